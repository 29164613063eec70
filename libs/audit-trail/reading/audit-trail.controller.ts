import { Controller, Get, Header, Headers, Query, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock } from '#kernel';
import { CurrentActor, requirePermission, type Actor } from '#access';
import type { QueryParameters as QueryOf } from '#json-api';
import { TrailExporter } from './trail.exporter.js';
import { TrailPageReader } from './trail-pages.reader.js';
import { isPageRequest, parseTrailPageQuery, parseTrailQuery } from './trail-query.filter.js';

const JSON_LINES = 'application/x-ndjson';

const JSON_WHOLE = 'application/json';

/** How much a type is wanted, by its own name; 0: not at all (RFC 9110, 12.5.1). */
const parseAcceptWeight = (type: string, accept: string): number => {
  const weights = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return name === type ? Number(quality?.slice(2) ?? 1) || 0 : 0;
  });
  return Math.max(...weights);
};

/** Readers in use accept anything, and get plain JSON in pages (clients.md §6): lines are for who wants nothing else more. */
const wantsLines = (accept: string, query: QueryOf): boolean =>
  parseAcceptWeight(JSON_LINES, accept) > parseAcceptWeight(JSON_WHOLE, accept) && !isPageRequest(query);

@Controller('api/v2')
export class AuditTrailController {
  constructor(
    private readonly pages: TrailPageReader,
    private readonly exports: TrailExporter,
    private readonly clock: Clock,
  ) {}

  /**
   * The path names no organization: it is the token's own, and a token of anybody else has none. Not JSON:API but plain
   * JSON, and as bytes: Fastify adds a charset to the media type of all else.
   */
  @Get('organization/audit-trail')
  @Header('content-type', JSON_WHOLE)
  async list(
    @Query() query: QueryOf,
    @Headers('accept') accept: string = '',
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    requirePermission(actor, 'read-audit-trail', { organization: actor.id });
    const question = parseTrailQuery(query, actor.id, this.clock.now());
    if (!wantsLines(accept, query)) {
      return Buffer.from(JSON.stringify(await this.pages.read(parseTrailPageQuery(query, question), actor)));
    }
    const lines = await this.exports.start(question, actor);
    void reply.header('content-type', JSON_LINES);
    return new StreamableFile(lines);
  }
}

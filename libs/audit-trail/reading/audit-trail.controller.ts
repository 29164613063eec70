import { Controller, Get, Header, Headers, Query, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock } from '#kernel';
import { CurrentActor, requirePermission, type Actor } from '#access';
import type { QueryParameters as QueryOf } from '#json-api';
import { TrailExporter } from './trail.exporter.js';
import { TrailPageReader } from './trail-pages.reader.js';
import { isPageRequest, parseTrailPageQuery, parseTrailQuery } from './trail-query.filter.js';

const JSON_LINES = 'application/x-ndjson';

const JSON_DOCUMENT = 'application/json';

/** Returns the quality value of a media type that is named explicitly; 0 if it is not (RFC 9110 §12.5.1). */
const parseAcceptWeight = (type: string, accept: string): number => {
  const weights = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return name === type ? Number(quality?.slice(2) ?? 1) || 0 : 0;
  });
  return Math.max(...weights);
};

/**
 * Returns whether the client wants lines. Existing readers accept any type and expect pages of plain JSON (clients.md
 * §6), so lines need an explicit preference.
 */
const prefersLines = (accept: string, query: QueryOf): boolean =>
  parseAcceptWeight(JSON_LINES, accept) > parseAcceptWeight(JSON_DOCUMENT, accept) && !isPageRequest(query);

@Controller('api/v2')
export class AuditTrailController {
  constructor(
    private readonly pages: TrailPageReader,
    private readonly exports: TrailExporter,
    private readonly clock: Clock,
  ) {}

  /**
   * The path names no organization, because the token belongs to one; other tokens have no audit trail. Returns plain
   * JSON instead of JSON:API, and as bytes, because Fastify adds a charset to the media type of strings.
   */
  @Get('organization/audit-trail')
  @Header('content-type', JSON_DOCUMENT)
  async list(
    @Query() query: QueryOf,
    @Headers('accept') accept: string = '',
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    requirePermission(actor, 'read-audit-trail', { organization: actor.id });
    const trailQuery = parseTrailQuery(query, actor.id, this.clock.now());
    if (!prefersLines(accept, query)) {
      return Buffer.from(JSON.stringify(await this.pages.read(parseTrailPageQuery(query, trailQuery), actor)));
    }
    const lines = await this.exports.start(trailQuery, actor);
    void reply.header('content-type', JSON_LINES);
    return new StreamableFile(lines);
  }
}

import { Injectable, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock, Refusal } from '#platform/kernel';
import type { Actor } from '#api/access';
import { getParameter, type QueryParameters as QueryOf } from '#api/json-api';
import { TrailExporter } from './trail.exporter.js';
import { TrailPageReader } from './trail-pages.reader.js';
import { isPageRequest, parseTrailPageQuery, parseTrailQuery } from './trail-query.filter.js';

const JSON_LINES = 'application/x-ndjson';

export const JSON_DOCUMENT = 'application/json';

/** The values of the parameter `format`, for clients that cannot send an `Accept` header, such as links in a page. */
export const TRAIL_FORMATS = ['json', 'ndjson'] as const;

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
 * Returns whether the client wants lines. Existing readers accept any type and expect pages of plain JSON,
 * so lines need an explicit preference.
 */
const prefersLines = (accept: string): boolean =>
  parseAcceptWeight(JSON_LINES, accept) > parseAcceptWeight(JSON_DOCUMENT, accept);

/** Returns the requested format; null if the client leaves the choice to the `Accept` header. */
export const parseTrailFormat = (query: QueryOf): (typeof TRAIL_FORMATS)[number] | null => {
  const text = getParameter(query, 'format');
  if (!text) return null;
  const format = TRAIL_FORMATS.find((each) => each === text);
  if (format) return format;
  const detail = `format: must be one of ${TRAIL_FORMATS.join(', ')}`;
  throw new Refusal('unprocessable', [{ detail, parameter: 'format' }]);
};

type TrailRequest = {
  /** The id of the organization, or SITE_TRAIL. */
  readonly organization: string;
  readonly query: QueryOf;
  readonly accept: string;
  readonly format: ReturnType<typeof parseTrailFormat>;
};

/** Answers a request for entries with a page of plain JSON, or with lines. */
@Injectable()
export class TrailAnswers {
  constructor(
    private readonly pages: TrailPageReader,
    private readonly exports: TrailExporter,
    private readonly clock: Clock,
  ) {}

  /** Returns plain JSON instead of JSON:API, and as bytes, because Fastify adds a charset to the media type of strings. */
  async answer(
    { organization, query, accept, format }: TrailRequest,
    actor: Actor,
    reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    const trailQuery = parseTrailQuery(query, organization, this.clock.now());
    const isLines = format === null ? prefersLines(accept) : format === 'ndjson';
    if (!isLines || isPageRequest(query)) {
      return Buffer.from(JSON.stringify(await this.pages.read(parseTrailPageQuery(query, trailQuery), actor)));
    }
    const lines = await this.exports.start(trailQuery, actor);
    void reply.header('content-type', JSON_LINES);
    return new StreamableFile(lines);
  }
}

import { Injectable, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { badRequest, Clock, Refusal } from '#platform/kernel';
import type { Actor } from '#api/access';
import { getParameter, type QueryParameters as QueryOf } from '#api/json-api';
import { TrailExporter } from './trail.exporter.js';
import { TrailPageReader } from './trail-pages.reader.js';
import { listPageParameters, parseTrailPageQuery, parseTrailQuery } from './trail-query.filter.js';
import { EXPORT_FORMATS, type ExportFormatName } from '../formats/trail-formats.renderer.js';

export const JSON_DOCUMENT = 'application/json';

/** A page of JSON, or the format of an export. */
type TrailFormat = 'json' | ExportFormatName;

/** The values of the parameter `format`. */
export const TRAIL_FORMATS: readonly [TrailFormat, ...TrailFormat[]] = [
  'json',
  ...(Object.keys(EXPORT_FORMATS) as ExportFormatName[]),
];

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
  parseAcceptWeight(EXPORT_FORMATS.ndjson.mediaType, accept) > parseAcceptWeight(JSON_DOCUMENT, accept);

/** Returns the requested format; null if the client leaves the choice to the `Accept` header. */
export const parseTrailFormat = (query: QueryOf): TrailFormat | null => {
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
  /** Null if the client leaves the choice to the `Accept` header. */
  readonly format: TrailFormat | null;
  /** The beginning of the file's name, for browsers that follow a link; null without a file. */
  readonly fileName: string | null;
};

/**
 * Returns the format of the export, or null for a page. Requests for pages of lines get pages of JSON, because collectors
 * send both. The other formats have no pages.
 */
const chooseExportFormat = ({ query, accept, format }: TrailRequest): ExportFormatName | null => {
  const chosen = format ?? (prefersLines(accept) ? 'ndjson' : 'json');
  const [pageParameter] = listPageParameters(query);
  if (chosen === 'json' || pageParameter === undefined) return chosen === 'json' ? null : chosen;
  if (chosen === 'ndjson') return null;
  throw badRequest(`format: ${chosen} has no pages; remove ${pageParameter}, or use format=json`, 'format');
};

const parseProofs = (query: QueryOf): boolean => {
  const text = getParameter(query, 'proofs');
  if (!text || text === 'false' || text === 'true') return text === 'true';
  throw new Refusal('unprocessable', [{ detail: 'proofs: must be true or false', parameter: 'proofs' }]);
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
  async answer(request: TrailRequest, actor: Actor, reply: FastifyReply): Promise<Buffer | StreamableFile> {
    const { organization, query, format, fileName } = request;
    const trailQuery = parseTrailQuery(query, organization, this.clock.now());
    const exported = chooseExportFormat(request);
    const hasProofs = parseProofs(query);
    if (hasProofs && exported !== 'ndjson') throw badRequest('proofs: needs format=ndjson without pages', 'proofs');
    if (exported === null)
      return Buffer.from(JSON.stringify(await this.pages.read(parseTrailPageQuery(query, trailQuery), actor)));
    const { mediaType, extension } = EXPORT_FORMATS[exported];
    const content = await (hasProofs
      ? this.exports.startProved(trailQuery, actor)
      : this.exports.start(trailQuery, actor, EXPORT_FORMATS[exported]));
    void reply.header('content-type', mediaType);
    // The name of an organization needs no quoting.
    if (format !== null && fileName !== null)
      void reply.header('content-disposition', `attachment; filename="${fileName}.${extension}"`);
    return new StreamableFile(content);
  }
}

import { constants, brotliCompress, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { JSON_API, parseAcceptEncoding } from '#api/json-api';

/** Smaller answers fit in a few packets, compressed or not. */
const MIN_BYTES = 4_096;
const OK = 200;

/**
 * Parts of the paths of signed links. Such a link grants what it names to everybody who has it, so answers with one are never
 * compressed.
 */
const SIGNED_LINKS = [
  '-versions/upload/',
  '-versions/download/',
  '/v2/uploads/',
  '/v2/modules/object/',
  '/v2/files/',
  '/v2/logs/',
  '/v2/plan-documents/',
  '/v2/plan-files/',
  '/v2/errored-states/',
];

type Compressed = (error: Error | null, compressed: Buffer) => void;

/** The best encoding comes first. Both cost about the same time. */
const ENCODINGS = {
  br: (body: Buffer, done: Compressed) =>
    brotliCompress(
      body,
      { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } },
      done,
    ),
  gzip: (body: Buffer, done: Compressed) => gzip(body, { level: 6 }, done),
} as const;
type AnswerEncoding = keyof typeof ENCODINGS;

/**
 * Returns whether another site may have caused the request. It can send the cookie of the session by opening an address, and
 * learn from the length of a compressed answer what stands beside a text that it has chosen (BREACH). Browsers name the
 * site in `Sec-Fetch-Site`. A token is sent by its owner alone.
 */
const canBeOfOtherSite = ({ headers }: FastifyRequest): boolean =>
  headers.authorization === undefined && headers['sec-fetch-site'] !== 'same-origin';

const toBuffer = (body: unknown): Buffer | null => {
  if (typeof body === 'string') return body.length < MIN_BYTES ? null : Buffer.from(body);
  return Buffer.isBuffer(body) && body.length >= MIN_BYTES ? body : null;
};

/** Returns the encoding of the answer; null for an answer that is sent as it is. */
const chooseEncoding = (request: FastifyRequest, body: Buffer): AnswerEncoding | null => {
  if (canBeOfOtherSite(request)) return null;
  const accepted = parseAcceptEncoding(request.headers['accept-encoding']);
  const encoding = (Object.keys(ENCODINGS) as AnswerEncoding[]).find(accepted) ?? null;
  // Last, because it reads the whole answer.
  return encoding === null || SIGNED_LINKS.some((part) => body.includes(part)) ? null : encoding;
};

type Sent = (error: Error | null, body?: unknown) => void;

/** Calls back at once if the answer is sent as it is: most answers are. */
const compressAnswer = (request: FastifyRequest, reply: FastifyReply, body: unknown, done: Sent): void => {
  const isDocument = String(reply.getHeader('content-type')).startsWith(JSON_API);
  if (reply.statusCode !== OK || !isDocument) return done(null, body);
  const content = toBuffer(body);
  if (!content) return done(null, body);
  void reply.header('vary', 'accept-encoding, sec-fetch-site');
  const encoding = chooseEncoding(request, content);
  if (encoding === null) return done(null, body);
  ENCODINGS[encoding](content, (error, compressed) => {
    if (!error) void reply.header('content-encoding', encoding).header('content-length', compressed.length);
    done(error, compressed);
  });
};

/**
 * Compresses documents that answer GETs, in the thread pool of Node. Changes are not compressed, because their answers can
 * contain a new secret. Neither are files, pages and streams (ADR 93). Register it after all other hooks that read bodies.
 */
export const compressAnswers = (fastify: FastifyInstance): void => {
  fastify.addHook('onRoute', (route) => {
    if (route.method === 'GET') route.onSend = [...[route.onSend ?? []].flat(), compressAnswer];
  });
};

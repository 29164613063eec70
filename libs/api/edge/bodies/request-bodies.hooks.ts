import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticatedRequest, RouteOptions } from '#api/access';
import { JSON_API } from '#api/json-api';
import { badRequest, Refusal } from '#platform/kernel';
import { BodyMemory, type BodyMemoryLimits, type UnfinishedBody } from './body-memory.js';
import { BudgetedBody } from './budgeted-body.http.js';
import { requireUploadRate, type UploadLimits } from './upload-rate.http.js';

export type BodyLimits = {
  /** Bytes of a JSON body, unless the options of the route set another limit. */
  readonly bodyBytes: number;
  readonly bodyMs: number;
  readonly bodyMemory: BodyMemoryLimits;
} & UploadLimits;

const KIB = 1024;

/**
 * Returns the size of a request's body in bytes: 0 without a body, Infinity if the headers do not contain the size (RFC
 * 9112 §6.3).
 */
export const getContentLength = (headers: IncomingHttpHeaders): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;

/** Fastify never reads the bodies of other requests. */
export const canHaveBody = (method: string | readonly string[]): boolean =>
  ![method].flat().every((name) => ['GET', 'HEAD', 'OPTIONS'].includes(name));

const BYTES = 'application/octet-stream';
const FORM = 'application/x-www-form-urlencoded';

/** The media types that a route accepts. Bodies without a media type count as `otherwise`. */
type AcceptedType = { readonly pattern: RegExp; readonly otherwise: string; readonly description: string };

const JSON_BODY: AcceptedType = {
  pattern: /^application\/(?:vnd\.api\+json|json)\s*(?:;|$)/i,
  otherwise: JSON_API,
  description: `${JSON_API}, or application/json`,
};
const FORM_BODY: AcceptedType = {
  pattern: /^application\/x-www-form-urlencoded\s*(?:;|$)/i,
  otherwise: FORM,
  description: FORM,
};

const SCIM = 'application/scim+json';
const SCIM_BODY: AcceptedType = {
  pattern: /^application\/(?:scim\+json|json|vnd\.api\+json)\s*(?:;|$)/i,
  otherwise: SCIM,
  description: `${SCIM}, or application/json`,
};

const getAcceptedType = ({ formBody, isScim }: RouteOptions): AcceptedType =>
  formBody ? FORM_BODY : isScim ? SCIM_BODY : JSON_BODY;

const FORM_BYTES = 64 * KIB;

const formatSize = (bytes: number): string =>
  bytes < KIB * KIB ? `${Math.floor(bytes / KIB)} KiB` : `${Math.floor(bytes / KIB / KIB)} MiB`;

const createTooLargeRefusal = (limit: number): Refusal =>
  new Refusal('too-large', [{ detail: `The body is too large. This request accepts at most ${formatSize(limit)}.` }]);

const createTooSlowRefusal = (milliseconds: number): Refusal => {
  const detail = `The body did not arrive within ${milliseconds / 1_000} seconds.`;
  return new Refusal('request-timeout', [{ detail }]);
};

const createMediaTypeRefusal = (type: string, accepted: string): Refusal =>
  new Refusal('unsupported-media-type', [
    { detail: `The media type "${type.slice(0, 100)}" is not supported. Send ${accepted}.` },
  ]);

/** Sends `100 Continue` to clients that wait for it. They send nothing if the server refuses their headers. */
const sendContinue = ({ headers }: FastifyRequest, { raw }: FastifyReply): void => {
  if (headers.expect?.toLowerCase() === '100-continue') raw.writeContinue();
};

/** Checks the headers of a body that is not streamed. A request without a body may have any media type. */
const checkBodyHeaders = ({ headers }: FastifyRequest, type: AcceptedType, limit: number): void => {
  const length = getContentLength(headers);
  if (length === 0) {
    delete headers['content-type'];
    return;
  }
  headers['content-type'] ??= type.otherwise;
  if (!type.pattern.test(headers['content-type'])) {
    throw createMediaTypeRefusal(headers['content-type'], type.description);
  }
  if (length !== Infinity && length > limit) throw createTooLargeRefusal(limit);
};

const getCallerId = ({ actor, ip }: AuthenticatedRequest): string => actor?.id ?? ip;

/** Reads a JSON body or a form, within the limits of its size, its time and the memory of unfinished bodies. */
const readBody = (
  request: FastifyRequest,
  content: Readable,
  limit: number,
  { bodyMs }: BodyLimits,
  memory: BodyMemory,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const stop = (): void => {
      clearTimeout(timer);
      memory.remove(body);
      content.off('data', take).off('end', finish).off('error', fail).off('close', cutShort);
      // Without a listener the rest is read and dropped, up to the limits of the connection.
      content.on('error', () => undefined).resume();
    };
    const refuse = (error: Refusal): void => {
      stop();
      reject(error);
    };
    const take = (piece: Buffer): void => {
      if (body.bytes + piece.length > limit) return refuse(createTooLargeRefusal(limit));
      pieces.push(piece);
      memory.add(body, piece.length);
    };
    const finish = (): void => {
      stop();
      resolve(Buffer.concat(pieces));
    };
    const cutShort = (): void => refuse(badRequest('The body was cut short'));
    const fail = cutShort;
    const body: UnfinishedBody = { caller: getCallerId(request), bytes: 0, refuse };
    const timer = setTimeout(() => refuse(createTooSlowRefusal(bodyMs)), bodyMs);
    content.on('data', take).once('end', finish).once('error', fail).once('close', cutShort);
  });

/** Returns the bytes of the largest body of a route. */
const getBodyLimit = ({ formBody, bodyLimit }: RouteOptions, { bodyBytes }: BodyLimits): number =>
  bodyLimit ?? (formBody ? FORM_BYTES : bodyBytes);

/** Returns the fields of a form. Refuses a repeated field, because two readers could choose different values. */
const parseForm = (text: string): Readonly<Record<string, string>> => {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw badRequest(`The form contains the field ${name.slice(0, 100)} more than once`);
    // Postgres cannot store it.
    if (value.includes('\0')) throw badRequest('The form contains a NUL character');
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
};

/** Checks the headers of a request with a body before the body is read. */
const checkHeadersOfBodies = (fastify: FastifyInstance, limits: BodyLimits): void => {
  fastify.addHook('onRoute', (route) => {
    const options = (route.config ?? {}) as RouteOptions;
    const { rawBody } = options;
    if (!canHaveBody(route.method)) return;
    route.preParsing = (request, reply, payload, next) => {
      try {
        if (rawBody) {
          if (rawBody === 'json') checkBodyHeaders(request, JSON_BODY, Infinity);
          request.headers['content-type'] = BYTES;
          requireUploadRate(request.raw, reply.raw, limits);
        } else {
          checkBodyHeaders(request, getAcceptedType(options), getBodyLimit(options, limits));
        }
        sendContinue(request, reply);
        next(null, payload);
      } catch (error) {
        next(error as Error);
      }
    };
  });
};

/** Reads bodies as JSON, as a form or as a stream of bytes, depending on the options of the route. */
export const readBodies = (fastify: FastifyInstance, limits: BodyLimits): void => {
  const memory = new BodyMemory(limits.bodyMemory);
  const parse = fastify.getDefaultJsonParser('error', 'error');
  const optionsOf = (request: FastifyRequest): RouteOptions => request.routeOptions.config as RouteOptions;
  checkHeadersOfBodies(fastify, limits);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(BYTES, (request, payload, done) => {
    if (optionsOf(request).rawBody !== 'json') return done(null, payload);
    const counted = new BudgetedBody(payload, getCallerId(request), memory);
    request.raw.once('close', () => counted.release());
    done(null, counted);
  });
  fastify.addContentTypeParser(FORM, async (request: FastifyRequest, payload: Readable) => {
    const bytes = await readBody(request, payload, getBodyLimit(optionsOf(request), limits), limits, memory);
    return parseForm(bytes.toString('utf8'));
  });
  fastify.addContentTypeParser(
    [JSON_API, 'application/json', SCIM],
    async (request: FastifyRequest, payload: Readable) => {
      const limit = getBodyLimit(optionsOf(request), limits);
      const bytes = await readBody(request, payload, limit, limits, memory);
      // An empty body counts as no body: some clients send `Transfer-Encoding: chunked` without content.
      if (bytes.length === 0) return undefined;
      return new Promise((resolve, reject) => {
        void parse(request, bytes.toString('utf8'), (error, parsed) => {
          if (error) reject(badRequest('The body is not valid JSON'));
          else resolve(parsed);
        });
      });
    },
  );
};

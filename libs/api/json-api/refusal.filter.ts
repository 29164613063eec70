import type { IncomingMessage } from 'node:http';
import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RateLimitRefusal, Refusal, type Problem, type RefusalKind } from '#platform/kernel';
import { getTraceId } from '#platform/tracing';
import { JSON_API } from './media-type.js';

/** A problem to send. `refused` is null for a fault of the server. */
export type RequestProblem = { readonly status: number; readonly detail: string; readonly refused: Refusal | null };

/** Another format of errors than JSON:API, for the addresses with a prefix. */
export type ErrorFormat = {
  /** For example `/scim/`. */
  readonly prefix: string;
  readonly mediaType: string;
  /** Returns the body and its status, which can differ from the usual one. */
  readonly render: (problem: RequestProblem) => { readonly status: number; readonly body: object };
};

/** HTTP status and title of each refusal. No other code knows status codes. Clients know the titles. */
const HTTP_STATUSES = {
  'bad-request': [400, 'bad request'],
  unauthorized: [401, 'unauthorized'],
  forbidden: [403, 'forbidden'],
  'not-found': [404, 'not found'],
  'method-not-allowed': [405, 'method not allowed'],
  'request-timeout': [408, 'request timeout'],
  conflict: [409, 'conflict'],
  'precondition-failed': [412, 'precondition failed'],
  'too-large': [413, 'payload too large'],
  'unsupported-media-type': [415, 'unsupported media type'],
  unprocessable: [422, 'invalid attribute'],
  'too-many': [429, 'Too many requests'],
  unavailable: [503, 'unavailable'],
} as const satisfies Record<RefusalKind, readonly [number, string]>;

const KIND_OF_STATUS = new Map(
  Object.entries(HTTP_STATUSES).map(([kind, [status]]) => [status as number, kind as RefusalKind]),
);

/** Returns the HTTP status of a refusal, for error bodies in other formats than JSON:API. */
export const getHttpStatus = ({ kind }: Refusal): number => HTTP_STATUSES[kind][0];

const errorObject = (status: number, title: string, problem: Problem): Record<string, unknown> => ({
  // A string: clients lose the message if the status is a number.
  status: String(status),
  title: problem.title ?? title,
  detail: problem.detail,
  ...(problem.pointer === undefined ? {} : { source: { pointer: problem.pointer } }),
  ...(problem.parameter === undefined ? {} : { source: { parameter: problem.parameter } }),
  ...(problem.meta === undefined ? {} : { meta: problem.meta }),
});

/**
 * Converts errors that Nest and Fastify throw for unknown routes, broken JSON, large bodies and other media types.
 * Returns null for a fault of the server.
 */
const toRefusal = (error: unknown): Refusal | null => {
  if (error instanceof Refusal) return error;
  const status =
    error instanceof HttpException
      ? error.getStatus()
      : error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
        ? error.statusCode
        : 500;
  if (status >= 500) return null;
  const kind = KIND_OF_STATUS.get(status) ?? 'bad-request';
  const detail = kind === 'not-found' ? 'Not found' : (error as Error).message;
  return new Refusal(kind, [{ detail }]);
};

export const renderRefusal = ({ kind, problems }: Refusal): object => {
  const [status, title] = HTTP_STATUSES[kind];
  return { errors: problems.map((problem) => errorObject(status, title, problem)) };
};

/** Up to this size, the server reads and drops the rest of a request's body and keeps the connection open. */
const MAX_DRAINED_BYTES = 64 * 1024;

/** Returns whether the connection must close after the response, because much of the body is unread (RFC 9112 §9.6). */
export const hasLongUnreadBody = ({ complete, headers }: IncomingMessage): boolean => {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_DRAINED_BYTES;
};

/** Sets the headers that inform clients how to authenticate or when to try again. */
export const setRefusalHeaders = (reply: FastifyReply, refused: Refusal): void => {
  if (refused.kind === 'unauthorized') void reply.header('www-authenticate', 'Bearer');
  if (refused.retryAfter !== undefined) void reply.header('retry-after', String(refused.retryAfter));
  if (!(refused instanceof RateLimitRefusal)) return;
  const { perSecond, retryInMs } = refused.limit;
  // go-tfe ends its process if the reset is not a number of seconds (tfe.go, rateLimitBackoff).
  void reply
    .header('x-ratelimit-limit', String(perSecond))
    .header('x-ratelimit-remaining', '0')
    .header('x-ratelimit-reset', String(retryInMs / 1_000));
};

/** Sends a refusal as JSON:API, or in the format of the address. */
export const sendRefusal = (reply: FastifyReply, refused: Refusal, formats: readonly ErrorFormat[] = []): void => {
  setRefusalHeaders(reply, refused);
  if (hasLongUnreadBody(reply.request.raw)) void reply.header('connection', 'close');
  const problem = { status: getHttpStatus(refused), detail: refused.message, refused };
  sendProblem(reply, problem, () => renderRefusal(refused), formats);
};

const sendProblem = (
  reply: FastifyReply,
  problem: RequestProblem,
  renderJsonApi: () => object,
  formats: readonly ErrorFormat[],
): void => {
  const format = formats.find(({ prefix }) => reply.request.url.startsWith(prefix));
  const { status, body } = format?.render(problem) ?? { status: problem.status, body: renderJsonApi() };
  void reply
    .status(status)
    .type(format?.mediaType ?? JSON_API)
    .send(body);
};

@Catch()
export class RefusalFilter implements ExceptionFilter {
  private readonly logger = new Logger('Request');

  constructor(private readonly formats: readonly ErrorFormat[] = []) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const refused = toRefusal(error);
    if (!refused) {
      // The response contains only the request id; the log line contains the error.
      const traceId = getTraceId(reply.request.raw);
      this.logger.error(error, { requestId: reply.request.id, ...(traceId !== undefined && { traceId }) });
      const detail = `Something went wrong on our side. Request id: ${reply.request.id}`;
      const renderFault = () => ({ errors: [errorObject(500, 'internal server error', { detail })] });
      sendProblem(reply, { status: 500, detail, refused: null }, renderFault, this.formats);
      return;
    }
    sendRefusal(reply, refused, this.formats);
  }
}

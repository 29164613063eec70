import { z } from 'zod';
import { getHttpStatus, JSON_API, renderRefusal } from '#api/json-api';
import { Refusal, type RefusalKind } from '#platform/kernel';
import type { DescribedOperation } from './described-operations.js';

const SERVER_ERROR = 'internal-server-error';

type ErrorKind = RefusalKind | typeof SERVER_ERROR;

/** What each refusal means if the operation gives no reason of its own. */
const MEANINGS: Readonly<Record<ErrorKind, string>> = {
  'bad-request': 'The address, a query parameter or the JSON of the body is not valid.',
  unauthorized: 'The token is missing, unknown or expired.',
  forbidden:
    'The caller may see the resource, and lacks the permission for this request. Or it needs a recent sign-in, or a second factor.',
  'not-found': 'The resource does not exist, or the caller may not see it.',
  'method-not-allowed': 'The address does not support this method.',
  'request-timeout': 'The body did not arrive in time.',
  conflict: 'The state of the resource does not allow the request.',
  'precondition-failed': 'The state of the resource is not the state that the request requires.',
  'too-large': 'The body is too large.',
  'unsupported-media-type': 'The media type of the body is not supported.',
  unprocessable: 'An attribute or a relationship of the body is not valid.',
  'too-many': 'The caller has sent too many requests. `Retry-After` is the number of seconds to wait.',
  unavailable:
    'The server is overloaded, or the database or the file store is not available. Retry after `Retry-After` seconds.',
  [SERVER_ERROR]: 'An error of the server. The detail contains the id of the request, which the log contains too.',
};

const errorDocument = z
  .strictObject({
    errors: z.array(
      z.strictObject({
        status: z.string().meta({ description: 'The HTTP status.', examples: ['404'] }),
        title: z.string().meta({ examples: ['not found'] }),
        detail: z.string().meta({ description: 'What was refused and what is accepted.', examples: ['Not found'] }),
        source: z
          .union([
            z.strictObject({ pointer: z.string().meta({ description: 'A JSON pointer into the body (RFC 6901).' }) }),
            z.strictObject({ parameter: z.string().meta({ description: 'The name of a query parameter.' }) }),
          ])
          .optional(),
        meta: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
  })
  .meta({ id: 'ErrorDocument', description: 'The reasons of a refusal.' });

const retryAfter = z.object({ 'Retry-After': z.int().meta({ description: 'The number of seconds to wait.' }) });

const HEADERS: Readonly<Partial<Record<ErrorKind, z.ZodObject>>> = {
  unauthorized: z.object({ 'WWW-Authenticate': z.literal('Bearer').meta({ description: 'How to authenticate.' }) }),
  'too-many': retryAfter,
  unavailable: retryAfter,
};

const statusOf = (kind: ErrorKind): number =>
  kind === SERVER_ERROR ? 500 : getHttpStatus(new Refusal(kind, [{ detail: '' }]));

const exampleOf = (kind: ErrorKind, detail: string): object =>
  kind === SERVER_ERROR
    ? { errors: [{ status: '500', title: 'internal server error', detail }] }
    : renderRefusal(new Refusal(kind, [{ detail }]));

const toComponentName = (kind: ErrorKind): string =>
  kind.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const buildResponse = (kind: ErrorKind, description: string, content: object = {}): object => ({
  description,
  ...(HEADERS[kind] ? { headers: HEADERS[kind] } : {}),
  content: { ...content, [JSON_API]: { schema: errorDocument, example: exampleOf(kind, description) } },
});

/** The responses that several operations share, for `components.responses`. */
export const SHARED_REFUSALS: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(MEANINGS).map(([kind, meaning]) => [
    toComponentName(kind as ErrorKind),
    buildResponse(kind as ErrorKind, meaning),
  ]),
);

/** Refusals of any request, before a handler runs. */
const ALWAYS: readonly ErrorKind[] = ['bad-request', 'not-found', 'too-many', 'unavailable', SERVER_ERROR];

/** Refusals of requests that can have a body, whether the handler reads it or not. */
const OF_BODIES: readonly ErrorKind[] = ['request-timeout', 'too-large', 'unsupported-media-type'];

const listKinds = ({ route, description }: DescribedOperation): readonly ErrorKind[] => [
  ...ALWAYS,
  ...(route.open ? [] : (['unauthorized', 'forbidden'] as const)),
  ...(route.method === 'GET' ? [] : OF_BODIES),
  ...(description.body ? (['unprocessable'] as const) : []),
];

/** Returns the responses of the operation's refusals by status. */
export const buildRefusals = (operation: DescribedOperation): Readonly<Record<string, object>> => {
  const { refusals = {}, refusalContent } = operation.description;
  const content = refusalContent && { [refusalContent.mediaType]: { schema: refusalContent.schema } };
  const kinds = new Set([...listKinds(operation), ...(Object.keys(refusals) as RefusalKind[])]);
  return Object.fromEntries(
    [...kinds].map((kind) => {
      const reason = kind === SERVER_ERROR ? undefined : refusals[kind];
      const isShared = reason === undefined && content === undefined;
      const shared = { $ref: `#/components/responses/${toComponentName(kind)}` };
      return [statusOf(kind), isShared ? shared : buildResponse(kind, reason ?? MEANINGS[kind], content)];
    }),
  );
};

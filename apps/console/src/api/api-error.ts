import type { ApiResource } from '#packages/client';
import { endDirections } from './direction-controls.js';

type RefusalDocument = ApiResource<'ErrorDocument'>;

/**
 * One reason of a refusal. `field`: the attribute, the relationship or the query parameter that was refused, or null.
 * `pointer`: its location in the body of the request, or null.
 */
type ApiProblem = { readonly detail: string; readonly field: string | null; readonly pointer: string | null };

/** A refusal of the server. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  /** `retryAfterMs`: when the server accepts the request, or null if it does not say so. */
  constructor(
    readonly status: number,
    readonly problems: readonly ApiProblem[],
    readonly retryAfterMs: number | null,
  ) {
    super(problems.map(({ detail }) => detail).join(' ') || `The server answered with status ${status}.`);
  }

  /** Whether the same request can succeed later. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status === 503;
  }

  /** Whether the resource does not exist, or this person may not see it. The server does not distinguish the two. */
  get isNotFound(): boolean {
    return this.status === 404;
  }

  /** Returns the details about each field, by its name. */
  get fields(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.problems.flatMap(({ field, detail }) => (field === null ? [] : [[field, detail]])));
  }
}

/** Returns whether the person may not read what was requested, or not any more. */
export const isDenied = (error: Error | null): boolean =>
  error instanceof ApiError && [401, 403, 404].includes(error.status);

/** A request without an answer: the server is not reachable, or something closed the connection. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** `canHaveChanged`: whether the server can have made a change without its answer. */
  constructor(
    message: string,
    readonly canHaveChanged = true,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns the answer of a request, or throws a `ConnectionError`. Browsers report failed requests as `TypeError`. */
export const requireAnswer = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError) throw new ConnectionError(error.message, true, { cause: error });
    throw error;
  }
};

/** Returns the answer of a request that changes nothing, for a change that sends this request too. */
export const requireUnchanging = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ConnectionError) throw new ConnectionError(error.message, false, { cause: error });
    throw error;
  }
};

/**
 * Returns the field of a problem. `/data/attributes/name` and `/data/attributes/name/0` are the field `name`, and
 * `/data/relationships/project/data/id` is the field `project`.
 */
const locateProblem = (
  source: RefusalDocument['errors'][number]['source'],
): { readonly field: string | null; readonly pointer: string | null } => {
  if (source === undefined) return { field: null, pointer: null };
  if ('parameter' in source) return { field: source.parameter, pointer: null };
  const { pointer } = source;
  const name = pointer
    .replace(/\/data(?:\/id)?$/, '')
    .replace(/\/\d+$/, '')
    .split('/')
    .at(-1);
  return { field: name || null, pointer };
};

const parseRetryAfter = (headers: Headers): number | null => {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : null;
};

/** The server does not say why it finds nothing. */
export const NOT_FOUND = 'It does not exist any more, or you have no access.';

/** The detail of a 404 that names no reason. */
const GENERIC_DETAIL = 'Not found';

const describeProblem = (status: number, detail: string | undefined, title: string): string => {
  if (status === 404 && (!detail || detail === GENERIC_DETAIL)) return NOT_FOUND;
  return detail || title;
};

/** Returns the refusal in the body of an answer. */
export const toApiError = (error: unknown, response: Response): ApiError => {
  const { errors } = (typeof error === 'object' && error !== null ? error : {}) as Partial<RefusalDocument>;
  const problems = (errors ?? []).map(({ title, detail, source }) => ({
    // It can repeat texts of people.
    detail: endDirections(describeProblem(response.status, detail, title)),
    ...locateProblem(source),
  }));
  return new ApiError(response.status, problems, parseRetryAfter(response.headers));
};

/** Returns what went wrong, in words for the person. */
export const describeError = (error: unknown): string => {
  if (error instanceof ApiError) return error.message;
  return error instanceof ConnectionError
    ? 'The server did not answer. Check the connection, and try again.'
    : 'A part of this screen failed. Load the page again.';
};

/** Like `describeError`, for a change: without an answer, nobody knows whether the server has made it. */
export const describeChangeError = (error: unknown): string =>
  error instanceof ConnectionError && error.canHaveChanged
    ? 'The server did not answer, and may have made the change. Check the connection, and look before you try again.'
    : describeError(error);

type ApiAnswer<T> = { readonly data?: T; readonly error?: unknown; readonly response: Response };

/** Returns the document of a successful answer, with texts that keep their direction to themselves, or throws an `ApiError`. */
export const readDocument = async <T>(answer: Promise<ApiAnswer<T>>): Promise<NonNullable<T>> => {
  const { data, error, response } = await requireAnswer(answer);
  if (data === undefined || data === null) throw toApiError(error, response);
  return endDirections(data);
};

/** Like `readDocument`, for answers of which only the data matter. */
export const readData = async <D>(answer: Promise<ApiAnswer<{ readonly data: D }>>): Promise<D> =>
  (await readDocument(answer)).data;

/** Throws an `ApiError` unless the request succeeded. For answers without a document. */
export const requireSuccess = async (answer: Promise<ApiAnswer<unknown>>): Promise<void> => {
  const { error, response } = await requireAnswer(answer);
  if (!response.ok) throw toApiError(error, response);
};

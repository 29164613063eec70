/** The reasons for which a request is refused. Only libs/api/json-api knows their HTTP status codes. */
export type RefusalKind =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-timeout'
  | 'conflict'
  | 'precondition-failed'
  | 'unprocessable'
  | 'too-large'
  | 'unsupported-media-type'
  | 'too-many'
  | 'unavailable';

/** One fault of a request. `pointer` is a JSON pointer into the request's body (RFC 6901). */
export type Problem = {
  readonly detail: string;
  /** Replaces the default title of the refusal's kind. */
  readonly title?: string;
  readonly pointer?: string;
  readonly parameter?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
};

/** Thrown if a request is refused. Any other error is a fault of the server. */
export class Refusal extends Error {
  constructor(
    readonly kind: RefusalKind,
    readonly problems: readonly Problem[],
    /** Seconds, for the header `Retry-After`. */
    readonly retryAfter?: number,
  ) {
    super(problems.map((problem) => problem.detail).join('; '));
    this.name = 'Refused';
  }
}

/**
 * Returns whether an error proves that nothing was stored or committed. After an outage (`unavailable`) and after any
 * other error, something may have been.
 */
export const isDefiniteFailure = (error: unknown): boolean => error instanceof Refusal && error.kind !== 'unavailable';

/**
 * Returns a 404. A resource that the caller may not see gets the same response as one that does not exist.
 */
export const notFound = (detail = 'Not found'): Refusal => new Refusal('not-found', [{ detail }]);

export const conflict = (detail: string, meta?: Problem['meta']): Refusal =>
  new Refusal('conflict', [meta ? { detail, meta } : { detail }]);

export const forbidden = (detail: string): Refusal => new Refusal('forbidden', [{ detail }]);

export const badRequest = (detail: string, parameter?: string): Refusal =>
  new Refusal('bad-request', [parameter === undefined ? { detail } : { detail, parameter }]);

/**
 * Returns a 422. `attribute` is an attribute name of the API, such as `auto-apply`, or a JSON pointer that begins with
 * a slash.
 */
export const unprocessable = (detail: string, attribute?: string): Refusal => {
  if (attribute === undefined) return new Refusal('unprocessable', [{ detail }]);
  const pointer = attribute.startsWith('/') ? attribute : `/data/attributes/${attribute}`;
  return new Refusal('unprocessable', [{ detail, pointer }]);
};

const collectProblems = (check: () => unknown): readonly Problem[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unprocessable') return error.problems;
    throw error;
  }
};

/**
 * Runs all checks and throws one refusal with the problems of all of them (one object for each problem).
 */
export const runAllChecks = (...checks: readonly (() => unknown)[]): void => {
  const problems = checks.flatMap(collectProblems);
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/**
 * Returns the result of `work`. If `work` refuses, the refusal also contains the problems that the checks find, each
 * once.
 */
export const collectRefusals = <T>(work: () => T, ...checks: readonly (() => unknown)[]): T => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal && error.kind === 'unprocessable')) throw error;
    const problems = [...error.problems, ...checks.flatMap(collectProblems)];
    const keys = problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
    throw new Refusal(
      'unprocessable',
      problems.filter((_, index) => keys.indexOf(keys[index] ?? '') === index),
    );
  }
};

export const unavailable = (detail: string, retryAfter: number): Refusal =>
  new Refusal('unavailable', [{ detail }], retryAfter);

type RateLimitDetails = {
  readonly perSecond: number;
  readonly retryInMs: number;
};

/** Thrown for a request beyond a rate limit. Its headers contain the time of the next attempt. */
export class RateLimitRefusal extends Refusal {
  constructor(
    detail: string,
    readonly limit: RateLimitDetails,
  ) {
    super('too-many', [{ detail }], Math.max(1, Math.ceil(limit.retryInMs / 1_000)));
    this.name = 'LimitExceeded';
  }
}

export const tooManyRequests = (detail: string, retryAfter: number): Refusal =>
  new Refusal('too-many', [{ detail }], retryAfter);

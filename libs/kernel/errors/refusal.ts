/** The kinds of no. The numbers that HTTP gives them are known to libs/json-api alone. */
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

/** One thing that is wrong. `pointer` is a JSON pointer into the request's body (RFC 6901). */
export type Problem = {
  readonly detail: string;
  /** In place of the title that goes with the kind. */
  readonly title?: string;
  readonly pointer?: string;
  readonly parameter?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
};

/** Thrown wherever the answer is no. Everything else that is thrown is a fault of ours. */
export class Refusal extends Error {
  constructor(
    readonly kind: RefusalKind,
    readonly problems: readonly Problem[],
    /** Seconds, for `Retry-After`. */
    readonly retryAfter?: number,
  ) {
    super(problems.map((problem) => problem.detail).join('; '));
    this.name = 'Refused';
  }
}

/** Not there, or not for the caller to see: the two are told apart nowhere (clients.md §2). */
export const notFound = (detail = 'Not found'): Refusal => new Refusal('not-found', [{ detail }]);

export const conflict = (detail: string, meta?: Problem['meta']): Refusal =>
  new Refusal('conflict', [meta ? { detail, meta } : { detail }]);

export const forbidden = (detail: string): Refusal => new Refusal('forbidden', [{ detail }]);

export const badRequest = (detail: string, parameter?: string): Refusal =>
  new Refusal('bad-request', [parameter === undefined ? { detail } : { detail, parameter }]);

/** `attribute` is the API's name of it, such as `auto-apply`, or a whole pointer that begins with a slash. */
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

/** All of these checks, and one refusal with what each of them finds wrong (clients.md §2: several problems, several objects). */
export const runAllChecks = (...checks: readonly (() => unknown)[]): void => {
  const problems = checks.flatMap(collectProblems);
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/** Returns what `work` returns. If it refuses, the refusal also names what each of the checks finds wrong, once. */
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

export type RateLimitDetails = {
  /** Requests per second that the limit allows. */
  readonly perSecond: number;
  readonly retryInMs: number;
};

/** Thrown for a request beyond a rate limit; clients read when they may try again from its headers (clients.md §2). */
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

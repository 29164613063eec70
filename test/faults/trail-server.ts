export type StubTrailEntry = {
  readonly id: string;
  readonly timestamp: string;
  readonly auth: { readonly organization_id: string };
};

type Pagination = {
  readonly current_page: number;
  readonly prev_page: number | null;
  readonly next_page: number | null;
  readonly total_pages: number;
  readonly total_count: number;
  readonly page_size: number;
  /** Only behind a cursor. */
  readonly next_after?: string | null;
  readonly more?: boolean;
};
export type StubTrailPage = { readonly data: readonly StubTrailEntry[]; readonly pagination: Pagination };
export type StubTrailQuery = Readonly<Record<string, string | number>>;

/** The server, for one poll. All of it rejects with `Unanswered` where there is no answer, or not the whole of it. */
export type StubTrailServer = {
  page(query: StubTrailQuery): Promise<StubTrailPage>;
  lines(query: StubTrailQuery): AsyncIterable<string>;
  /** What else a reader looks at. */
  json(path: string): Promise<any>;
};

/** No answer, not all of it, or one that says to come again: the poll is over, and the next begins from the shelf. */
export class NoResponseError extends Error {}

/** What comes next in the trail is not kept any more. */
export class EntriesGoneError extends Error {}

const unanswered = (cause: unknown): never => {
  throw new NoResponseError('there was no whole answer', { cause });
};

const KEYS = ['current_page', 'next_page', 'page_size', 'prev_page', 'total_count', 'total_pages'];
const PATH = '/api/v2/organization/audit-trail';

/** Each reader is known by its program's name; they share the organization's one token. */
export const serverFor = (
  name: string,
  { url, token, signal }: { readonly url: () => string; readonly token: string; readonly signal: AbortSignal },
): StubTrailServer => {
  const ask = async (path: string, accept: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'user-agent': name, accept };
    const response = await fetch(`${url()}${path}`, { headers, signal }).catch(unanswered);
    if (response.status === 200) return response;
    const text = await response.text().catch(unanswered);
    if (response.status === 503) return unanswered(text);
    if (response.status === 422 && JSON.parse(text).errors[0].meta?.gone === true) throw new EntriesGoneError(text);
    throw new Error(`${name} was answered ${response.status} to ${path}: ${text}`);
  };
  const json = async (path: string): Promise<any> => {
    const response = await ask(path, 'application/json, */*');
    return JSON.parse(await response.text().catch(unanswered));
  };
  const asked = (query: StubTrailQuery): string => {
    const parameters = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    return `${PATH}?${new URLSearchParams(parameters).toString()}`;
  };
  return {
    json,
    page: async (query) => {
      const page = (await json(asked(query))) as StubTrailPage;
      const missing = KEYS.filter((key) => !Object.hasOwn(page.pagination, key));
      if (missing.length > 0) throw new Error(`${name} misses ${missing.join(', ')}`);
      return page;
    },
    lines: async function* (query) {
      const { body } = await ask(asked(query), 'application/x-ndjson');
      let rest = '';
      try {
        for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const whole = (rest + text).split('\n');
          rest = whole.pop() ?? '';
          yield* whole;
        }
      } catch (error) {
        unanswered(error);
      }
      if (rest !== '') throw new Error(`${name} was told that half a line is the end: ${rest}`);
    },
  };
};

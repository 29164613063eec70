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
  /** Set only for queries with a cursor. */
  readonly next_after?: string | null;
  readonly more?: boolean;
};
export type StubTrailPage = { readonly data: readonly StubTrailEntry[]; readonly pagination: Pagination };
export type StubTrailQuery = Readonly<Record<string, string | number>>;

/** The client of one poll. Its methods reject with `NoResponseError` if a response is missing or incomplete. */
export type StubTrailServer = {
  page(query: StubTrailQuery): Promise<StubTrailPage>;
  lines(query: StubTrailQuery): AsyncIterable<string>;
  /** Requests any other path. */
  json(path: string): Promise<any>;
};

/** There was no complete response, or a 503. The poll ends, and the next one starts from the checkpoint. */
export class NoResponseError extends Error {}

/** The entries after the reader's cursor were pruned. */
export class EntriesGoneError extends Error {}

const unanswered = (cause: unknown): never => {
  throw new NoResponseError('there was no complete response', { cause });
};

const KEYS = ['current_page', 'next_page', 'page_size', 'prev_page', 'total_count', 'total_pages'];
const PATH = '/api/v2/organization/audit-trail';

/** Makes a client whose user agent is the name of the reader's program. All readers share the organization's token. */
export const serverFor = (
  name: string,
  { url, token, signal }: { readonly url: () => string; readonly token: string; readonly signal: AbortSignal },
): StubTrailServer => {
  const send = async (path: string, accept: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'user-agent': name, accept };
    const response = await fetch(`${url()}${path}`, { headers, signal }).catch(unanswered);
    if (response.status === 200) return response;
    const text = await response.text().catch(unanswered);
    if (response.status === 503) return unanswered(text);
    if (response.status === 422 && JSON.parse(text).errors[0].meta?.gone === true) throw new EntriesGoneError(text);
    throw new Error(`${name} was answered ${response.status} to ${path}: ${text}`);
  };
  const json = async (path: string): Promise<any> => {
    const response = await send(path, 'application/json, */*');
    return JSON.parse(await response.text().catch(unanswered));
  };
  const pathFor = (query: StubTrailQuery): string => {
    const parameters = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    return `${PATH}?${new URLSearchParams(parameters).toString()}`;
  };
  return {
    json,
    page: async (query) => {
      const page = (await json(pathFor(query))) as StubTrailPage;
      const missing = KEYS.filter((key) => !Object.hasOwn(page.pagination, key));
      if (missing.length > 0) throw new Error(`${name} misses ${missing.join(', ')}`);
      return page;
    },
    lines: async function* (query) {
      const { body } = await send(pathFor(query), 'application/x-ndjson');
      let rest = '';
      try {
        for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const completeLines = (rest + text).split('\n');
          rest = completeLines.pop() ?? '';
          yield* completeLines;
        }
      } catch (error) {
        unanswered(error);
      }
      if (rest !== '') throw new Error(`${name} got a stream that ends within a line: ${rest}`);
    },
  };
};

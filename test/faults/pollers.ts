import type { StubTrailEntry, StubTrailPage, StubTrailQuery, StubTrailServer } from './trail-server.js';

/**
 * Programs that read audit trails, each with its own queries and its own checkpoint. Each function does
 * one poll and stores everything that the next poll needs in `PolledEntries`, so that a reader can be restarted at any
 * time.
 */

/**
 * The data of a reader that survives when it is killed: the entries that it has delivered, and its checkpoint as text.
 */
export class PolledEntries {
  readonly entries: StubTrailEntry[] = [];
  private readonly ids = new Set<string>();
  private text: string | null = null;

  get checkpoint(): string | null {
    return this.text;
  }

  has({ id }: StubTrailEntry): boolean {
    return this.ids.has(id);
  }

  /** Stores both at once. A reader that dies between the two would lose entries through its own fault. */
  put(entries: readonly StubTrailEntry[], checkpoint: string | null): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.ids.add(entry.id);
    }
    this.text = checkpoint;
  }
}

export type Poll = (server: StubTrailServer, shelf: PolledEntries) => Promise<void>;

/** The time that a reader without a checkpoint starts from. */
const LONG_AGO = '2020-01-01T00:00:00.000Z';

/** Returns the latest timestamp. Timestamps have one format, so they sort as texts. */
const latest = (entries: readonly StubTrailEntry[]): string | undefined =>
  entries
    .map(({ timestamp }) => timestamp)
    .toSorted()
    .at(-1);

const remembered = <T>({ checkpoint }: PolledEntries, otherwise: T): T =>
  checkpoint === null ? otherwise : (JSON.parse(checkpoint) as T);

/**
 * Checks first that the organization has a trail, uses the parameter `page`, and remembers the latest timestamp at the
 * end.
 */
const splunk: Poll = async (server, shelf) => {
  const { included } = await server.json('/api/v2/organizations?include=entitlement_set');
  if (!included?.some(({ attributes }: any) => attributes['audit-logging']))
    throw new Error('there is no audit logging');
  const since = shelf.checkpoint ?? LONG_AGO;
  const entries: StubTrailEntry[] = [];
  let page = 1;
  for (let next: number | null = page; next !== null;) {
    const { data, pagination } = await server.page({ since, page });
    entries.push(...data);
    next = pagination.next_page !== null && pagination.next_page > page ? pagination.next_page : null;
    page = next ?? page;
  }
  shelf.put(entries, latest(entries) ?? since);
};

type Boundary = { readonly since: string; readonly entryIds: readonly string[] };

/** Uses page 1 only for the number of pages. Then it reads all pages in parallel, the last one first. */
const cortex: Poll = async (server, shelf) => {
  await server.json('/api/v2/account/details');
  const { since, entryIds } = remembered<Boundary>(shelf, { since: LONG_AGO, entryIds: [] });
  const pageOf = (number: number) => server.page({ since, 'page[number]': number, 'page[size]': 1_000 });
  const { total_pages: count } = (await pageOf(1)).pagination;
  const numbers = Array.from({ length: count }, (_, index) => count - index);
  const pages = await Promise.all(numbers.map(pageOf));
  const entries = pages.flatMap(({ data }) => data).filter(({ id }) => !entryIds.includes(id));
  const newest = latest(entries);
  if (newest === undefined) return;
  const boundary = entries.filter(({ timestamp }) => timestamp === newest).map(({ id }) => id);
  shelf.put(entries, JSON.stringify({ since: newest, entryIds: boundary }));
};

/** The entries from `newest` down to `reached` are delivered. */
type Window = { readonly newest: string; readonly reached: string };
type Pointer = { readonly pointer: string; readonly window: Window | null };

/**
 * Delivers page by page from the newest entry down, and remembers the last one. After a restart it searches for that
 * entry and continues below it. It reads entries that are newer than its first page in the next poll.
 */
const grove: Poll = async (server, shelf) => {
  const { pointer, window: storedWindow } = remembered<Pointer>(shelf, { pointer: LONG_AGO, window: null });
  const deliver = (entries: readonly StubTrailEntry[], pointer: Pointer): void =>
    shelf.put(entries, JSON.stringify(pointer));
  let window = storedWindow;
  let sought = storedWindow?.reached ?? null;
  for (let cursor: number | null = 1; cursor;) {
    const page: StubTrailPage = await server.page({ since: pointer.replace('Z', ''), 'page[number]': cursor });
    const index = page.data.findIndex(({ timestamp }) => timestamp === sought);
    if (index >= 0) sought = null;
    const entries = sought === null ? page.data.slice(index + 1) : [];
    const [first, last] = [entries[0], entries.at(-1)];
    if (first && last) {
      window = { newest: window?.newest ?? first.timestamp, reached: last.timestamp };
      deliver(entries, { pointer, window });
    }
    cursor = page.pagination.next_page;
  }
  deliver([], { pointer: window?.newest ?? pointer, window: null });
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Requests everything since yesterday in each poll, like Logstash or a shell script. The destination removes duplicates
 * by id.
 */
const vector: Poll = async (server, shelf) => {
  const query = { since: new Date(Date.now() - DAY_MS).toISOString().slice(0, 10), 'page[size]': 1_000 };
  let page = await server.page(query);
  for (;;) {
    shelf.put(
      page.data.filter((entry) => !shelf.has(entry)),
      null,
    );
    const next = page.pagination.next_page;
    if (next === null) return;
    page = await server.page({ ...query, 'page[number]': next });
  }
};

/** Requests everything after its latest timestamp, as a reader of the documentation would. */
const naive: Poll = async (server, shelf) => {
  const since: StubTrailQuery = shelf.checkpoint ? { since: shelf.checkpoint } : {};
  const entries: StubTrailEntry[] = [];
  let page = await server.page(since);
  for (;;) {
    entries.push(...page.data);
    const next = page.pagination.next_page;
    if (next === null) break;
    page = await server.page({ ...since, 'page[number]': next });
  }
  shelf.put(entries, latest(entries) ?? shelf.checkpoint);
};

type PollProgress = { readonly last: string | null; readonly entryIds: readonly string[] };

const wholeSecond = (timestamp: string): string => `${timestamp.slice(0, 19)}Z`;
const secondBefore = (timestamp: string): string => new Date(Date.parse(timestamp) - 1_000).toISOString();

/**
 * The library truncates a time to its second, and the server returns entries after that whole second. A program that
 * must lose none steps back by one second and drops the entries that it has.
 */
const goTfe: Poll = async (server, shelf) => {
  const { last, entryIds } = remembered<PollProgress>(shelf, { last: null, entryIds: [] });
  const since: StubTrailQuery = last === null ? {} : { since: wholeSecond(secondBefore(last)) };
  const read: StubTrailEntry[] = [];
  for (let page: number | null = 1; page;) {
    const { data, pagination }: StubTrailPage = await server.page({
      ...since,
      'page[number]': page,
      'page[size]': 100,
    });
    read.push(...data);
    page = pagination.next_page;
  }
  const newest = latest(read);
  if (newest === undefined) return;
  const lastSecondIds = read
    .filter(({ timestamp }) => wholeSecond(timestamp) === wholeSecond(newest))
    .map(({ id }) => id);
  const entries = read.filter(({ id }) => !entryIds.includes(id));
  shelf.put(entries, JSON.stringify({ last: newest, entryIds: lastSecondIds }));
};

const cursor: Poll = async (server, shelf) => {
  for (let more = true; more;) {
    const { data, pagination } = await server.page({ after: shelf.checkpoint ?? '', 'page[size]': 100 });
    shelf.put(data, pagination.next_after ?? shelf.checkpoint);
    more = pagination.more ?? false;
  }
};

/** Reads everything as lines. After an interruption it continues behind the last complete line. */
const lines: Poll = async (server, shelf) => {
  for await (const line of server.lines({ after: shelf.checkpoint ?? '' })) {
    const entry = JSON.parse(line) as StubTrailEntry;
    shelf.put([entry], entry.id);
  }
};

export const POLLS: Readonly<Record<string, Poll>> = {
  Splunk: splunk,
  Cortex: cortex,
  Grove: grove,
  Vector: vector,
  'naive poller': naive,
  'go-tfe': goTfe,
  cursor,
  export: lines,
};

import type { StubTrailEntry, StubTrailPage, StubTrailQuery, StubTrailServer } from './trail-server.js';

/**
 * Those who read audit trails, as they are (clients.md §6), each with its own way of asking and of resuming. Each is one
 * poll, and whatever it must know for the next is on its shelf: so any of them can be started again at any moment.
 */

/** What is left of a reader when it is killed: what it has handed on, and where it was, in a text. */
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

  /** Both at once: what a reader does that dies between the two is not for the server to mend. */
  put(entries: readonly StubTrailEntry[], checkpoint: string | null): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.ids.add(entry.id);
    }
    this.text = checkpoint;
  }
}

export type Poll = (server: StubTrailServer, shelf: PolledEntries) => Promise<void>;

/** What readers ask for who have seen nothing yet. */
const LONG_AGO = '2020-01-01T00:00:00.000Z';

/** Timestamps have one form, and are in order as texts. */
const latest = (entries: readonly StubTrailEntry[]): string | undefined =>
  entries
    .map(({ timestamp }) => timestamp)
    .toSorted()
    .at(-1);

const remembered = <T>({ checkpoint }: PolledEntries, otherwise: T): T =>
  checkpoint === null ? otherwise : (JSON.parse(checkpoint) as T);

/** Looks first whether there is a trail, and says `page`. Remembers the largest timestamp, when it is through. */
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

/** Takes from page 1 only how many there are; then all of them side by side, the last one first. */
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
  shelf.put(entries, JSON.stringify({ since: newest, known: boundary }));
};

/** Everything from `newest` down to `reached` has been handed on. */
type Window = { readonly newest: string; readonly reached: string };
type Pointer = { readonly pointer: string; readonly window: Window | null };

/**
 * Hands on page by page, from the newest entry down, and remembers how far down it was. Started again in the middle it
 * looks for that place, and goes on below; what is newer than its first page was, it gets the next time.
 */
const grove: Poll = async (server, shelf) => {
  const { pointer, window: left } = remembered<Pointer>(shelf, { pointer: LONG_AGO, window: null });
  const keep = (entries: readonly StubTrailEntry[], place: Pointer): void => shelf.put(entries, JSON.stringify(place));
  let window = left;
  let sought = left?.reached ?? null;
  for (let cursor: number | null = 1; cursor;) {
    const page: StubTrailPage = await server.page({ since: pointer.replace('Z', ''), 'page[number]': cursor });
    const place = page.data.findIndex(({ timestamp }) => timestamp === sought);
    if (place >= 0) sought = null;
    const entries = sought === null ? page.data.slice(place + 1) : [];
    const [first, last] = [entries[0], entries.at(-1)];
    if (first && last) {
      window = { newest: window?.newest ?? first.timestamp, reached: last.timestamp };
      keep(entries, { pointer, window });
    }
    cursor = page.pagination.next_page;
  }
  keep([], { pointer: window?.newest ?? pointer, window: null });
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/** As is Logstash, or a shell: asks for what there is since yesterday, each time. Where it goes, an id is there once. */
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

/** What everybody writes who has only the documentation: what is later than the last I saw. */
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

type Seen = { readonly last: string | null; readonly entryIds: readonly string[] };

const wholeSecond = (timestamp: string): string => `${timestamp.slice(0, 19)}Z`;
const secondBefore = (timestamp: string): string => new Date(Date.parse(timestamp) - 1_000).toISOString();

/**
 * The library cuts a time to its second, and gets what is later than that whole second: later than the time for certain,
 * but not all that is. So a program that must not lose any steps back by one, and drops what it has.
 */
const goTfe: Poll = async (server, shelf) => {
  const { last, entryIds } = remembered<Seen>(shelf, { last: null, entryIds: [] });
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
  const again = read.filter(({ timestamp }) => wholeSecond(timestamp) === wholeSecond(newest)).map(({ id }) => id);
  const entries = read.filter(({ id }) => !entryIds.includes(id));
  shelf.put(entries, JSON.stringify({ last: newest, known: again }));
};

const cursor: Poll = async (server, shelf) => {
  for (let more = true; more;) {
    const { data, pagination } = await server.page({ after: shelf.checkpoint ?? '', 'page[size]': 100 });
    shelf.put(data, pagination.next_after ?? shelf.checkpoint);
    more = pagination.more ?? false;
  }
};

/** All there is, as lines; cut off, it goes on behind the last whole one. */
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

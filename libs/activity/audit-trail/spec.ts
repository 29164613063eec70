import { sql, type Sql } from '#platform/kernel';
import type { TrailEntry } from './writing/trail-entry.js';
import { ENTRY_COLUMNS, toTrailEntry, type EntryRow } from './writing/stored-entry.js';
import { countCompleteBlocks, insertBlock } from './blocks/trail-blocks.js';
import type { TrailPagination } from './reading/pagination.js';
import type { ShownEntry } from './formats/shown-entry.js';

export const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * The properties of the test client's response that these helpers use. Its type is not imported, because a file with
 * one dot imports only its own module.
 */
type TestTrailResponse = { readonly status: number; readonly body: unknown; readonly text: string };

export type TestTrailPage = { readonly data: readonly TrailEntry[]; readonly pagination: TrailPagination };

const PATH = '/api/v2/organization/audit-trail';

export const requestTrail = <A extends TestTrailResponse>(
  api: { get(path: string): Promise<A> },
  query: string | Readonly<Record<string, string>> = {},
): Promise<A> => api.get(`${PATH}?${typeof query === 'string' ? query : new URLSearchParams(query).toString()}`);

/** Returns a page of the caller's audit trail. Throws if the status is not 200. */
export const readTrail = async (
  api: { get(path: string): Promise<TestTrailResponse> },
  query: Parameters<typeof requestTrail>[1] = {},
): Promise<TestTrailPage> => {
  const { status, body, text } = await requestTrail(api, query);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body as TestTrailPage;
};

export const listIds = (...pages: readonly TestTrailPage[]): string[] =>
  pages.flatMap(({ data }) => data.map((entry) => entry.id));

export const formatAction = (entry: TrailEntry | undefined): string =>
  entry ? `${entry.resource.type} ${entry.resource.action}` : 'no entry';

export const listActions = ({ data }: TestTrailPage): string[] => data.map(formatAction);

export const readLines = async (
  server: { readonly url: string },
  token: string,
  query: Readonly<Record<string, string>> = {},
  accept = 'application/x-ndjson',
): Promise<readonly TrailEntry[]> => {
  const answer = await fetch(`${server.url}${PATH}?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${token}`, accept },
  });
  const text = await answer.text();
  const type = answer.headers.get('content-type');
  if (answer.status !== 200 || type !== 'application/x-ndjson') throw new Error(`${answer.status} ${type}: ${text}`);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TrailEntry);
};

/** Returns the stored entries `e` that match a condition, in the order of each audit trail. */
export const listStoredEntries = async (
  database: { rows<T>(statement: Sql): Promise<T[]> },
  where: Sql = sql`true`,
): Promise<readonly TrailEntry[]> => {
  const rows = await database.rows<EntryRow>(
    sql`select ${ENTRY_COLUMNS} from audit_trail_entries e where ${where} order by e.organization, e.ordinal`,
  );
  return rows.map(toTrailEntry);
};

/** Keeps transactions short, because followers wait for every open transaction. */
const ENTRIES_PER_STATEMENT = 5_000;

const buildEntryInsert = (organization: string, entries: number): readonly Sql[] => [
  sql`
    insert into audit_trail_entries
           (organization, timestamp, id, ordinal, resource_type, action, accessor, resource_id, actor_name, auth_type)
    select organization, timestamp, id, ordinal, kind, action, accessor, resource, accessor, 'Client'
      from audit_trails,
           generate_series(1, ${entries}::int) n,
           lateral (select length + n as ordinal) place,
           lateral (select last + (n * interval '1 second') as timestamp, gen_random_uuid() as id,
                           'user-' || ordinal % 40 as accessor, 'ws-' || ordinal % 5000 as resource,
                           case when ordinal % 10000 = 7 then 'registry_provider' when ordinal % 10 = 3 then 'run'
                                else 'workspace' end as kind,
                           case when ordinal % 2 = 0 then 'lock' else 'unlock' end as action) made
     where organization = ${organization}`,
  sql`
    update audit_trails set length = length + ${entries}, last = last + ${entries} * interval '1 second'
     where organization = ${organization}`,
];

/**
 * Inserts a long audit trail directly into the view after the existing entries, one entry a second, because appending
 * so many events would take minutes. Nine of ten entries are about workspaces, and one in ten thousand about a
 * provider. The existing entries must be less than a block. The leaves of the new entries have any content.
 */
export const buildLongTrail = (organization: string, entries: number): readonly Sql[] => [
  ...Array.from({ length: Math.ceil(entries / ENTRIES_PER_STATEMENT) }, (_, n) =>
    buildEntryInsert(organization, Math.min(ENTRIES_PER_STATEMENT, entries - n * ENTRIES_PER_STATEMENT)),
  ).flat(),
  sql`vacuum analyze audit_trail_entries`,
  ...Array.from({ length: countCompleteBlocks(entries) }, (_, block) => insertBlock(organization, block)),
  sql`vacuum analyze audit_trail_blocks`,
  sql`
  insert into audit_trail.leaves (organization, index, id, leaf)
  select organization, e.ordinal - l.first_ordinal, e.id, sha256(e.id::text::bytea)
    from audit_trail_entries e join audit_trail.logs l using (organization)
   where organization = ${organization}
  on conflict do nothing`,
];

/** Returns an entry of a user, for tests of formats. */
export const createEntryOf = <C extends Partial<ShownEntry>>(
  type: string,
  action: string,
  meta: TrailEntry['resource']['meta'],
  change: C = {} as C,
  actorName = 'ada',
): TrailEntry & C => ({
  id: '0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f',
  version: '0',
  type: 'Resource',
  timestamp: '2026-11-01T12:00:00.001Z',
  auth: {
    accessor_id: 'user-1',
    description: actorName,
    type: 'Client',
    impersonator_id: null,
    organization_id: 'org-1',
  },
  request: { id: 'request-1', address: '192.0.2.7', user_agent: 'Terraform/1.13.0' },
  resource: { id: 'ws-1', type, action, meta },
  ...change,
});

import { sql, type EventRegistry, type RecordedEvent, type Sql, type HandlersByType } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { selectIsEarlierView, type Follower } from '#storage/event-store';
import type { OrganizationEvent } from '#organizations/organizations';
import type { TrailSettingsEvent } from './settings/audit-trail-settings.js';
import { hasTrail } from './settings/audit-trail.entitlement.js';
import type { TrailEntry } from './writing/trail-entry.js';
import {
  computeTrailUpdate,
  listScopedEvents,
  SITE_TRAIL,
  type NumberedEntry,
  type TrailState,
  type TrailUpdate,
  type TrailTransition,
} from './writing/trail.js';
import { ENTRY_INDEXES } from './blocks/entry-indexes.queries.js';
import { countCompleteBlocks, insertBlock } from './blocks/trail-blocks.js';
import { findSurplusLeaf, LeafRecorder, type StoredLog } from './log/leaf.recorder.js';
import { LEAF_COUNT } from './log/trail-logs.queries.js';
import { removeExpired } from './settings/entry-retention.queries.js';

export const AUDIT_TRAIL_FOLLOWER = 'audit_trail';
/** Since version 2, entries are columns, and blocks of entries exist. */
const COMPACT_VERSION = 2;
/** Since version 3, the site has an audit trail. Since version 4, entries of organizations have leaves in logs. */
const VERSION = 4;

/** The condition that blocks may be missing, and that processes may read whole entries. */
export const IS_EARLIER_TRAIL = selectIsEarlierView(AUDIT_TRAIL_FOLLOWER, COMPACT_VERSION);

/** The condition that the trail `t` of an organization has entries and should have a log, but has none. */
export const IS_UNLOGGED_TRAIL = sql`
  (t.open and t.length > 0 and t.organization <> ${SITE_TRAIL}
   and not ${selectIsEarlierView(AUDIT_TRAIL_FOLLOWER, VERSION)}
   and not exists (select from audit_trail.logs l where l.organization = t.organization))`;

const TRAIL_TRANSITIONS: HandlersByType<OrganizationEvent | TrailSettingsEvent, [], TrailTransition | null> = {
  OrganizationCreated: ({ featureSet }) => (hasTrail(featureSet) ? 'begin' : null),
  OrganizationUpdated: () => null,
  OrganizationFeatureSetChanged: ({ featureSet, trailBegins }) => {
    if (!hasTrail(featureSet)) return 'close';
    return trailBegins === 'with_change' ? 'begin' : 'open';
  },
  OrganizationTokenTtlPoliciesChanged: () => null,
  OrganizationImported: () => null,
  // Tokens of the organization are deleted too, so nobody reads its entries any more. Entries stay until they expire,
  // including the one of the deletion. The row in audit_trails is never deleted, so that timestamps of an audit trail
  // never start again.
  OrganizationDeleted: () => 'close',
  AuditTrailEnabled: () => 'enable',
  AuditTrailDisabled: () => 'disable',
  AuditTrailRetentionChanged: () => 'configure',
  AuditTrailTested: () => null,
  // Recorded even while recording is stopped, because the log of the trail begins with it.
  AuditTrailLogStarted: () => 'configure',
};

const getTrailTransition = ({ type, data }: RecordedEvent): TrailTransition | null => {
  const transition = (
    TRAIL_TRANSITIONS as Readonly<Record<string, ((data: unknown) => TrailTransition | null) | undefined>>
  )[type];
  return transition?.(data) ?? null;
};

export const createLeafRecorder = (): LeafRecorder =>
  new LeafRecorder({ view: AUDIT_TRAIL_FOLLOWER, version: VERSION });

type TrailRow = TrailState & { readonly organization: string };
/** The members are null for a trail without entries or settings, and for a trail without a log. */
type StoredTrailRow = { readonly organization: string } & (TrailState | { readonly open: null }) &
  (Omit<StoredLog, 'organization'> | { readonly secret: null });

/** The state of trails before a batch, and what the batch changes. */
type TrailBatch = {
  readonly before: ReadonlyMap<string, TrailState>;
  readonly logs: readonly StoredLog[];
  readonly update: TrailUpdate;
};

/**
 * Creates the follower that turns events of entitled organizations and of the site into entries. It takes five
 * statements for a batch, and one for each block of entries that the batch completes.
 */
export const createAuditTrailFollower = (registry: EventRegistry, recorder = createLeafRecorder()): Follower => ({
  name: AUDIT_TRAIL_FOLLOWER,
  batch: 500,
  // Erasing a person also clears their data in entries. Readers decrypt the rest (trail-pages.reader.ts,
  // trail.exporter.ts).
  keepEncrypted: true,
  version: VERSION,
  tables: ['audit_trail_entries', 'audit_trail_actors', 'audit_trail_blocks', 'audit_trails'],
  growing: ['audit_trail_entries'],
  indexes: { audit_trail_entries: ENTRY_INDEXES },
  follow: async (events, session, store) => {
    const batch = await computeBatch(registry, events, session);
    if (!batch) return [];
    const { entries } = batch.update;
    const leaves = await recorder.record({ events, entries, logs: batch.logs }, { session, store });
    return [...buildStatements(batch), ...leaves];
  },
  createReplay: () => async (events, session, store) => {
    const batch = await computeBatch(registry, events, session);
    if (!batch) return [];
    await recorder.compare({ entries: batch.update.entries, logs: batch.logs }, { session, store });
    return buildStatements(batch);
  },
  durable: { findSurplus: findSurplusLeaf },
  prune: removeExpired,
});

const computeBatch = async (
  registry: EventRegistry,
  events: readonly RecordedEvent[],
  session: Pick<DatabaseSession, 'run'>,
): Promise<TrailBatch | null> => {
  const organizations = new Set(
    events.flatMap((event) => listScopedEvents(registry, event).map(({ organization }) => organization)),
  );
  if (organizations.size === 0) return null;
  const rows = await session.run<StoredTrailRow>(sql`
    select scope.organization, t.open, t.enabled, t.last, t.length, l.first_ordinal as "firstOrdinal", l.secret,
           l.pruned, ${LEAF_COUNT} as leaves
      from unnest(${[...organizations]}::text[]) as scope (organization)
      left join audit_trails t on t.organization = scope.organization
      left join audit_trail.logs l on l.organization = scope.organization`);
  const before = new Map(rows.flatMap((row) => (row.open === null ? [] : [[row.organization, row]])));
  const logs = rows.flatMap((row) => (row.secret === null ? [] : [row]));
  return { before, logs, update: computeTrailUpdate(registry, getTrailTransition, before, events) };
};

const buildStatements = ({ before, update: { entries, trails } }: TrailBatch): readonly Sql[] => [
  ...(entries.length > 0 ? [insertEntries(entries), insertActors(entries)] : []),
  ...[...trails].flatMap(([organization, { length }]) => {
    const first = countCompleteBlocks(before.get(organization)?.length ?? 0);
    const count = countCompleteBlocks(length) - first;
    return Array.from({ length: count }, (_, index) => insertBlock(organization, first + index));
  }),
  ...(trails.size > 0 ? [upsertTrails([...trails].map(([organization, trail]) => ({ organization, ...trail })))] : []),
];

/** As long as a process of an earlier version may run, rows also contain the whole entry, which that process reads. */
const insertEntries = (entries: readonly NumberedEntry[]): Sql => sql`
  insert into audit_trail_entries
         (ordinal, organization, timestamp, id, accessor, resource_type, action, resource_id, actor_name, auth_type,
          impersonator, request, address, user_agent, meta, entry)
  select ordinal, auth ->> 'organization_id', (entry ->> 'timestamp')::timestamptz, (entry ->> 'id')::uuid,
         auth ->> 'accessor_id', resource ->> 'type', resource ->> 'action', resource ->> 'id', auth ->> 'description',
         auth ->> 'type', auth ->> 'impersonator_id', request ->> 'id', request ->> 'address', request ->> 'user_agent',
         nullif(resource -> 'meta', 'null'), case when ${IS_EARLIER_TRAIL} then entry end
    from jsonb_to_recordset(${sql.json(entries)}::jsonb) as list (ordinal bigint, entry jsonb),
         jsonb_to_record(entry) as members (auth jsonb, request jsonb, resource jsonb)`;

/**
 * Inserts actors whose name differs from their id, so that filters find them by name; names of run tokens equal their
 * ids. There are few actors, and nearly all exist already, in which case nothing is written.
 */
const insertActors = (entries: readonly NumberedEntry[]): Sql => {
  const namedActors = entries.map(({ entry }) => toActorRow(entry)).filter(({ name, accessor }) => name !== accessor);
  const actors = new Map(namedActors.map((actor) => [sql.json(actor), actor]));
  return sql`
    insert into audit_trail_actors (organization, name, accessor)
    select organization, name, accessor
      from jsonb_to_recordset(${sql.json([...actors.values()])}::jsonb) as list (organization text, name text, accessor text)
    on conflict do nothing`;
};

const toActorRow = ({ auth }: TrailEntry) => ({
  organization: auth.organization_id,
  name: auth.description,
  accessor: auth.accessor_id,
});

/** Updates existing rows first, because `on conflict` would also write the lock of each row to the log of Postgres. */
const upsertTrails = (trails: readonly TrailRow[]): Sql => sql`
  with list as materialized (
         select organization, open, enabled, last, length
           from jsonb_to_recordset(${sql.json(trails)}::jsonb)
                as rows (organization text, open boolean, enabled boolean, last timestamptz, length bigint)),
       updated as (
         update audit_trails t
            set open = list.open, enabled = list.enabled, last = list.last, length = list.length
           from list where t.organization = list.organization
         returning t.organization)
  insert into audit_trails (organization, open, enabled, last, length)
  select organization, open, enabled, last, length from list where organization not in (select organization from updated)`;

import { sql, type EventRegistry, type Recorded, type Sql, type Table } from '#kernel';
import type { Follower } from '#event-store';
import type { OrganizationEvent } from '#organizations';
import type { TrailSettingsEvent } from './audit-trail-settings.js';
import { hasTrail } from './audit-trail.entitlement.js';
import type { Entry } from './entry.js';
import { continueTrails, type Placed, type Trail, type Trails, type Turn } from './trail.js';
import { removeExpired } from './kept-entries.queries.js';

export const AUDIT_TRAIL = 'audit_trail';

const turns: Table<OrganizationEvent | TrailSettingsEvent, [], Turn | null> = {
  OrganizationCreated: ({ featureSet }) => (hasTrail(featureSet) ? 'begin' : null),
  OrganizationUpdated: () => null,
  OrganizationFeatureSetChanged: ({ featureSet, trailBegins }) => {
    if (!hasTrail(featureSet)) return 'close';
    return trailBegins === 'with_change' ? 'begin' : 'open';
  },
  OrganizationTokenTtlPoliciesChanged: () => null,
  // Its tokens go with it, so nobody reads its entries any more; they stay until they are too old, the one that tells
  // who deleted it among them. Its row in audit_trails stays for good: a trail never begins its time anew.
  OrganizationDeleted: () => 'close',
  AuditTrailEnabled: () => 'enable',
  AuditTrailDisabled: () => 'disable',
  AuditTrailRetentionChanged: () => 'configure',
  AuditTrailTested: () => null,
};

const turnOf = ({ type, data }: Recorded): Turn | null => {
  const turn = (turns as Readonly<Record<string, ((data: unknown) => Turn | null) | undefined>>)[type];
  return turn?.(data) ?? null;
};

type TrailRow = Trail & { readonly organization: string };

/** Turns the events of entitled organizations into entries. Four statements a batch, however many events it has. */
export const auditTrailFollower = (registry: EventRegistry): Follower => ({
  name: AUDIT_TRAIL,
  batch: 500,
  // Who forgets a person empties their entries with it; readers open what is left (audit-trail.pages.ts, audit-trail.exports.ts).
  sealed: true,
  tables: ['audit_trail_entries', 'audit_trail_actors', 'audit_trails'],
  growing: ['audit_trail_entries'],
  follow: async (events, session) => {
    const organizations = new Set(events.flatMap(({ organization }) => organization ?? []));
    if (organizations.size === 0) return [];
    const rows = await session.run<TrailRow>(
      sql`select organization, open, enabled, last, length from audit_trails where organization = any (${[...organizations]}::text[])`,
    );
    const before = new Map(rows.map((row) => [row.organization, row]));
    return statements(continueTrails(registry, turnOf, before, events));
  },
  prune: removeExpired,
});

const statements = ({ entries, trails }: Trails): readonly Sql[] => [
  ...(entries.length > 0 ? [insertEntries(entries), keepActors(entries)] : []),
  ...(trails.size > 0 ? [keepTrails([...trails].map(([organization, trail]) => ({ organization, ...trail })))] : []),
];

const insertEntries = (entries: readonly Placed[]): Sql => sql`
  insert into audit_trail_entries
         (organization, timestamp, id, entry, ordinal, resource_type, action, accessor, resource_id)
  select auth ->> 'organization_id', (entry ->> 'timestamp')::timestamptz, (entry ->> 'id')::uuid, entry, ordinal,
         resource ->> 'type', resource ->> 'action', auth ->> 'accessor_id', resource ->> 'id'
    from jsonb_to_recordset(${sql.json(entries)}::jsonb) as list (ordinal bigint, entry jsonb),
         lateral (select entry -> 'auth' as auth, entry -> 'resource' as resource) parts`;

/**
 * Who has acted under a name of their own, not their id, as tokens of runs do: these are found by it. They are few, and
 * nearly all of them known; then nothing is written.
 */
const keepActors = (entries: readonly Placed[]): Sql => {
  const named = entries.map(({ entry }) => actorIn(entry)).filter(({ name, accessor }) => name !== accessor);
  const actors = new Map(named.map((actor) => [sql.json(actor), actor]));
  return sql`
    insert into audit_trail_actors (organization, name, accessor)
    select organization, name, accessor
      from jsonb_to_recordset(${sql.json([...actors.values()])}::jsonb) as list (organization text, name text, accessor text)
    on conflict do nothing`;
};

const actorIn = ({ auth }: Entry) => ({
  organization: auth.organization_id,
  name: auth.description,
  accessor: auth.accessor_id,
});

const keepTrails = (trails: readonly TrailRow[]): Sql => sql`
  insert into audit_trails (organization, open, enabled, last, length)
  select organization, open, enabled, last, length
    from jsonb_to_recordset(${sql.json(trails)}::jsonb)
         as list (organization text, open boolean, enabled boolean, last timestamptz, length bigint)
  on conflict (organization) do update
    set open = excluded.open, enabled = excluded.enabled, last = excluded.last, length = excluded.length`;

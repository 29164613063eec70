import { sql, type EventRegistry, type Recorded, type Sql, type Table } from '#kernel';
import type { Follower } from '#event-store';
import type { FeatureSet, OrganizationEvent } from '#organizations';
import type { Entry } from './entry.js';
import { continueTrails, oldestKept, type Trail, type Trails, type Turn } from './trail.js';

export const AUDIT_TRAIL = 'audit_trail';

/** The audit entitlement: `audit-logging` in an organization's entitlement set. */
const TRAIL: Readonly<Record<FeatureSet, 'open' | 'closed'>> = { everything: 'open', free: 'closed' };

const turns: Table<OrganizationEvent, [], Turn> = {
  OrganizationCreated: ({ featureSet }) => TRAIL[featureSet],
  OrganizationUpdated: () => null,
  OrganizationFeatureSetChanged: ({ featureSet }) => TRAIL[featureSet],
  // Its tokens go with it, so nobody reads its entries any more; they stay until they are too old, the one that tells
  // who deleted it among them. Its row in audit_trails stays for good: a trail never begins its time anew.
  OrganizationDeleted: () => 'closed',
};

const turnOf = ({ type, data }: Recorded): Turn => {
  const turn = (turns as Readonly<Record<string, ((data: unknown) => Turn) | undefined>>)[type];
  return turn?.(data) ?? null;
};

type TrailRow = Trail & { readonly organization: string };

/** Turns the events of entitled organizations into entries. Three statements a batch, however many events it has. */
export const auditTrailFollower = (registry: EventRegistry): Follower => ({
  name: AUDIT_TRAIL,
  batch: 500,
  tables: ['audit_trail_entries', 'audit_trails'],
  follow: async (events, session) => {
    const organizations = new Set(events.flatMap(({ organization }) => organization ?? []));
    if (organizations.size === 0) return [];
    const rows = await session.run<TrailRow>(
      sql`select organization, open, last from audit_trails where organization = any (${[...organizations]}::text[])`,
    );
    const before = new Map(rows.map((row) => [row.organization, row]));
    return statements(continueTrails(registry, turnOf, before, events));
  },
  prune: (now) => sql`delete from audit_trail_entries where timestamp < ${oldestKept(now).toISOString()}`,
});

const statements = ({ entries, trails }: Trails): readonly Sql[] => [
  ...(entries.length > 0 ? [insertEntries(entries)] : []),
  ...(trails.size > 0 ? [keepTrails([...trails].map(([organization, trail]) => ({ organization, ...trail })))] : []),
];

const insertEntries = (entries: readonly Entry[]): Sql => sql`
  insert into audit_trail_entries (organization, timestamp, id, entry)
  select entry -> 'auth' ->> 'organization_id', (entry ->> 'timestamp')::timestamptz, (entry ->> 'id')::uuid, entry
    from jsonb_array_elements(${sql.json(entries)}::jsonb) as list (entry)`;

const keepTrails = (trails: readonly TrailRow[]): Sql => sql`
  insert into audit_trails (organization, open, last)
  select organization, open, last
    from jsonb_to_recordset(${sql.json(trails)}::jsonb) as list (organization text, open boolean, last timestamptz)
  on conflict (organization) do update set open = excluded.open, last = excluded.last`;

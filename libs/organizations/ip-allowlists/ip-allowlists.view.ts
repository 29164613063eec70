import {
  claimNames,
  sql,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  notFound,
  type Timestamp,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  raiseEpoch,
  selectAddressesSubject,
  selectMembersSubject,
  listInOrganization,
  loadParentWithCount,
  requireCurrentAccess,
  requirePermission,
  requirePermittedRow,
  type Actor,
} from '#api/access';
import type { AgentPoolDeleted } from '#organizations/agents';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { ListPage, PageRequest } from '#api/json-api';
import { IP_ALLOWLIST_NAMES } from './ip-allowlist-names.js';
import type { AllowedRange, IpAllowlistEvent, EnforcementScope } from './ip-allowlist.js';

export const ipAllowlists: Projection<IpAllowlistEvent | AgentPoolDeleted | OrganizationDeleted> = {
  name: 'ip_allowlists',
  version: 1,
  tables: ['ip_allowlists'],
  on: {
    IpAllowlistCreated: ({ name, description, enforcementScope }, { stream, organization, time }) => sql`
      insert into ip_allowlists (id, organization, name, description, enforcement_scope, created_at, updated_at)
      values (${stream}, ${organization}, ${name}, ${description}, ${enforcementScope}, ${time}, ${time})`,
    IpAllowlistUpdated: ({ name, description, enforcementScope }, { stream, time }) => sql`
      update ip_allowlists
         set name = ${name}, description = ${description}, enforcement_scope = ${enforcementScope}, updated_at = ${time},
             agent_pools = case when ${enforcementScope} = 'selected_agent_pools' then agent_pools else '{}' end
       where id = ${stream}`,
    IpAllowlistRangeAdded: null,
    IpAllowlistRangeUpdated: null,
    IpAllowlistRangeRemoved: null,
    IpAllowlistAgentPoolsAdded: ({ agentPools }, { stream, time }) => sql`
      update ip_allowlists set agent_pools = agent_pools || ${agentPools}::text[], updated_at = ${time} where id = ${stream}`,
    IpAllowlistAgentPoolsRemoved: ({ agentPools }, { stream, time }) => sql`
      update ip_allowlists
         set agent_pools = array(select pool from unnest(agent_pools) as pool where pool <> all (${agentPools}::text[])),
             updated_at = ${time}
       where id = ${stream}`,
    AgentPoolDeleted: (_, { stream, organization }) => sql`
      update ip_allowlists set agent_pools = array_remove(agent_pools, ${stream})
       where organization = ${organization} and ${stream} = any (agent_pools)`,
    IpAllowlistDeleted: (_, { stream }) => sql`delete from ip_allowlists where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from ip_allowlists where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const ipAllowlistNames: Projection<
  Extract<IpAllowlistEvent, { type: 'IpAllowlistCreated' | 'IpAllowlistUpdated' }>
> = {
  name: 'ip_allowlist_names',
  tables: [],
  on: {
    IpAllowlistCreated: (_, { stream }) => claimNames(IP_ALLOWLIST_NAMES, [stream]),
    IpAllowlistUpdated: (_, { stream }) => claimNames(IP_ALLOWLIST_NAMES, [stream]),
  },
};

type EventOrigin = { readonly stream: string; readonly organization: string | null; readonly time: string };

const insertRange = (
  { id, range, description, enabled }: AllowedRange,
  { stream, organization, time }: EventOrigin,
): Sql => sql`
  insert into ip_allowlist_ranges (id, list, organization, range, description, enabled, created_at, updated_at)
  values (${id}, ${stream}, ${organization}, ${range}, ${description}, ${enabled}, ${time}, ${time})`;

type RangeEvent = Exclude<
  IpAllowlistEvent,
  { type: 'IpAllowlistUpdated' | 'IpAllowlistAgentPoolsAdded' | 'IpAllowlistAgentPoolsRemoved' }
>;

export const ipAllowlistRanges: Projection<RangeEvent | OrganizationDeleted> = {
  name: 'ip_allowlist_ranges',
  version: 1,
  tables: ['ip_allowlist_ranges'],
  on: {
    IpAllowlistCreated: ({ ranges }, event) => ranges.map((range) => insertRange(range, event)),
    IpAllowlistRangeAdded: (range, event) => insertRange(range, event),
    IpAllowlistRangeUpdated: ({ id, range, description, enabled }, { time }) => sql`
      update ip_allowlist_ranges
         set range = ${range}, description = ${description}, enabled = ${enabled}, updated_at = ${time} where id = ${id}`,
    IpAllowlistRangeRemoved: ({ id }) => sql`delete from ip_allowlist_ranges where id = ${id}`,
    IpAllowlistDeleted: (_, { stream }) => sql`delete from ip_allowlist_ranges where list = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from ip_allowlist_ranges where organization = ${stream}`,
  },
};

const raiseEpochs = (_: unknown, { organization }: EventOrigin): readonly Sql[] => [
  raiseEpoch(selectMembersSubject(sql`${organization}::text`)),
  raiseEpoch(selectAddressesSubject(sql`${organization}::text`)),
];

/** Raises the access epoch of all callers of the organization, because gateways cache the ranges with the callers. */
export const ipAllowlistEpochs: Projection<IpAllowlistEvent> = {
  name: 'ip_allowlist_epochs',
  tables: [],
  on: {
    IpAllowlistCreated: raiseEpochs,
    IpAllowlistUpdated: raiseEpochs,
    IpAllowlistRangeAdded: raiseEpochs,
    IpAllowlistRangeUpdated: raiseEpochs,
    IpAllowlistRangeRemoved: raiseEpochs,
    IpAllowlistAgentPoolsAdded: raiseEpochs,
    IpAllowlistAgentPoolsRemoved: raiseEpochs,
    IpAllowlistDeleted: raiseEpochs,
  },
};

export type AllowedRangeRow = {
  readonly id: string;
  readonly list: string;
  readonly range: string;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly updatedAt: Timestamp;
};

export type IpAllowlistRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly description: string | null;
  readonly enforcementScope: EnforcementScope;
  readonly agentPools: readonly string[];
  /** In the order of their addresses. */
  readonly ranges: readonly string[];
  readonly updatedAt: Timestamp;
};

const RANGE_COLUMNS = sql.raw('r.id, r.list, r.range, r.description, r.enabled, r.updated_at as "updatedAt"');

const RANGE_ORDER = sql.raw('r.range::inet, r.id');

const COLUMNS = sql.raw(`l.id, l.organization, o.name as "organizationName", l.name, l.description,
  l.enforcement_scope as "enforcementScope", l.agent_pools as "agentPools", l.updated_at as "updatedAt",
  array(select r.id from ip_allowlist_ranges r where r.list = l.id order by r.range::inet, r.id) as ranges`);

const FROM = sql.raw('from ip_allowlists l join organizations o on o.id = l.organization');

export const selectIpAllowlistById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where l.id = ${id}`;

export const selectAllowedRangeById = (id: string): Sql =>
  sql`select ${RANGE_COLUMNS} from ip_allowlist_ranges r where r.id = ${id}`;

/** A list by its id, or by the id of one of its ranges. */
export type IpAllowlistTarget = { readonly list: string } | { readonly range: string };

const isTarget = (target: IpAllowlistTarget): Sql =>
  'list' in target
    ? sql`l.id = ${target.list}`
    : sql`l.id = (select r.list from ip_allowlist_ranges r where r.id = ${target.range})`;

export const findIpAllowlist = async (database: Database, actor: Actor, id: string): Promise<IpAllowlistRow> => {
  const row = await database.row<IpAllowlistRow>(
    sql`select ${COLUMNS} ${FROM} where l.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'manage-ip-allowlists', row);
};

type IpAllowlistForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly snapshot: StreamSnapshot;
  /** Versions of the organization and of the named agent pools, after whose deletion no event may refer to them. */
  readonly preconditions: readonly StreamVersion[];
  /** The named agent pools that the organization has. */
  readonly agentPools: readonly string[];
};

/** Returns the list. `agentPools`: the agent pools that the command names. */
export const loadIpAllowlist = async (
  database: Database,
  actor: Actor,
  target: IpAllowlistTarget,
  agentPools: readonly string[],
): Promise<IpAllowlistForCommand> => {
  const row = await database.row<IpAllowlistForCommand>(sql`
    select l.id, l.organization, ${buildSnapshotJson('s')} as snapshot, pools.ids as "agentPools",
           ${selectStreamVersions(sql.raw('l.organization || pools.ids'))} as preconditions
      from ip_allowlists l join event_store.streams s on s.stream = l.id
      cross join lateral (
        select array(select p.id from agent_pools p
                      where p.organization = l.organization and p.id = any (${agentPools}::text[])) as ids) pools
     where ${isTarget(target)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-ip-allowlists', row);
};

/** Returns the organization of a new list, and the number of its lists. */
export const loadOrganizationForIpAllowlist = (database: Database, actor: Actor, name: string) =>
  loadParentWithCount(
    database,
    actor,
    'manage-ip-allowlists',
    name,
    sql.raw('select count(*) from ip_allowlists l where l.organization = o.id'),
  );

/** Returns one page and the count of all lists from one statement. `search`: a part of the name. */
export const listIpAllowlists = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
  search: string | undefined,
): Promise<ListPage<IpAllowlistRow>> =>
  listInOrganization(
    database,
    actor,
    {
      organization,
      permission: 'manage-ip-allowlists',
      columns: COLUMNS,
      from: FROM,
      where: search
        ? sql`l.organization = owner.id and strpos(lower(l.name), lower(${search})) > 0`
        : sql`l.organization = owner.id`,
      order: sql.raw('name, id'),
    },
    page,
  );

/** A range of the list, or only the organization of a list without ranges. */
type ListedRangeRow = { readonly organization: string } & (AllowedRangeRow | { readonly id: null });

/** Returns the ranges of a list, in the order of their addresses. */
export const listAllowedRanges = async (
  database: Database,
  actor: Actor,
  list: string,
): Promise<readonly AllowedRangeRow[]> => {
  const rows = await database.rows<ListedRangeRow>(sql`
    select l.organization, ${RANGE_COLUMNS} from ip_allowlists l left join ip_allowlist_ranges r on r.list = l.id
     where l.id = ${list} and ${requireCurrentAccess(actor)} order by ${RANGE_ORDER}`);
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'manage-ip-allowlists', first);
  return rows.filter((row) => row.id !== null);
};

export const findAllowedRange = async (database: Database, actor: Actor, id: string): Promise<AllowedRangeRow> => {
  const row = await database.row<AllowedRangeRow & { readonly organization: string }>(sql`
    select ${RANGE_COLUMNS}, r.organization from ip_allowlist_ranges r
     where r.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-ip-allowlists', row);
};

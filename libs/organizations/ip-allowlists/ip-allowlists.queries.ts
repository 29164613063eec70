import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  listInOrganization,
  loadParentWithCount,
  requireCurrentAccess,
  requirePermission,
  requirePermittedRow,
  type Actor,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import type { EnforcementScope } from './ip-allowlist.js';

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

import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  can,
  hasOrganizationName,
  requirePermission,
  requireCurrentAccess,
  isPermittedByRole,
  SITE_SCOPE,
  verifyCurrentAccess,
  type Actor,
  type Permission,
} from '#api/access';
import { selectActiveMembers } from '#identity/people';
import { selectUsablePoolVersion } from '#organizations/agents';
import { selectOwnPolicy, type PolicyIdentifier } from '#organizations/data-retention-policies';
import {
  buildLimit,
  selectStoredAttributes,
  toListPage,
  type ListPage,
  type PageRequest,
  type ListRow,
} from '#api/json-api';
import type { FeatureSet } from './organization.js';
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from './organization-settings.js';
import type { LimitedToken } from './token-ttl-policy.js';

/** `updatedAt` is null while the policy has its default. */
type TokenTtlPolicy = { readonly maxTtlMs: number; readonly updatedAt: Timestamp | null };
export type TokenTtlPoliciesByType = Readonly<Record<LimitedToken, TokenTtlPolicy>>;

export type OrganizationRow = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly featureSet: FeatureSet;
  readonly defaultProject: string;
  readonly ownersTeam: string;
  readonly settings: OrganizationSettings;
  readonly dataRetentionPolicy: PolicyIdentifier | null;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql`o.id, o.name, o.email, o.feature_set as "featureSet", o.default_project as "defaultProject",
  o.owners_team as "ownersTeam", ${selectStoredAttributes(ORGANIZATION_SETTINGS, 'o.settings')} as settings,
  ${selectOwnPolicy(sql.raw('o.id'))} as "dataRetentionPolicy", o.created_at as "createdAt"`;

const COLUMNS_WITH_TTL_POLICIES = sql`${COLUMNS}, o.token_ttl_policies as "tokenTtlPolicies"`;

export const selectOrganizationById = (id: string): Sql =>
  sql`select ${COLUMNS_WITH_TTL_POLICIES} from organizations o where o.id = ${id}`;

export const selectOrganizationsByIds = (ids: Sql): Sql =>
  sql`select ${COLUMNS} from organizations o where o.id = any (${ids}) order by o.name`;

/** An organization with its limits on the lifetimes of tokens. */
export type OrganizationWithTtlPolicies = OrganizationRow & { readonly tokenTtlPolicies: TokenTtlPoliciesByType };

/**
 * Returns the organization with this name. Throws the refusal of the permission table if the caller lacks the
 * permission.
 */
export const findOrganization = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
): Promise<OrganizationWithTtlPolicies> => {
  const row = await database.row<OrganizationWithTtlPolicies>(
    sql`select ${COLUMNS_WITH_TTL_POLICIES} from organizations o where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`,
  );
  if (!row) throw notFound();
  requirePermission(actor, permission, { organization: row.id });
  return row;
};

type OrganizationForCommand = OrganizationRow & {
  /** Version of the agent pool in the command; null if it is not a pool for the whole organization. */
  readonly poolVersion: number | null;
  readonly snapshot: StreamSnapshot;
};

/** Returns the same as `findOrganization`, with the snapshot that a decision needs. */
export const loadOrganizationForCommand = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  name: string,
  pool: string | null = null,
): Promise<OrganizationForCommand> => {
  const row = await database.row<OrganizationForCommand>(sql`
    select ${COLUMNS}, ${selectUsablePoolVersion({ pool, organization: sql.raw('o.id') })} as "poolVersion",
           ${buildSnapshotJson('s')} as snapshot
      from organizations o join event_store.streams s on s.stream = o.id
     where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, permission, { organization: row.id });
  return row;
};

type OrganizationFilter = {
  /** Text in the name or the email address. Takes precedence over `name` and `email`. */
  readonly search: string | undefined;
  readonly name: string | undefined;
  readonly email: string | undefined;
};

const contains = (column: 'o.name' | 'o.email', text: string): Sql =>
  sql`position(lower(${text}) in lower(${sql.raw(column)})) > 0`;

const buildConditions = ({ search, name, email }: OrganizationFilter): readonly Sql[] => {
  if (search) return [sql`(${contains('o.name', search)} or ${contains('o.email', search)})`];
  return [...(name ? [contains('o.name', name)] : []), ...(email ? [contains('o.email', email)] : [])];
};

/**
 * Selects one page of the organizations that match, with their number in each row. `ownColumns`: columns that only the
 * rows of the page have.
 */
const selectPage = (where: Sql, page: PageRequest, ownColumns = sql``): Sql => sql`
    with matched as materialized (select ${COLUMNS} from organizations o where ${where})
    select total.n as total, page.* from (select count(*) as n from matched) total
      left join lateral (select o.*${ownColumns} from matched o order by name ${buildLimit(page)}) page on true
     order by page.name`;

export const listOrganizations = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: OrganizationFilter,
): Promise<ListPage<OrganizationRow>> => {
  const where = sql.and([
    isPermittedByRole(actor, 'list-organization'),
    ...buildConditions(filter),
    requireCurrentAccess(actor),
  ]);
  const rows = await database.slowRows<ListRow<OrganizationRow, { total: number }>>(actor, selectPage(where, page));
  return toListPage(rows);
};

/** An organization as site administrators see it. */
export type AdministeredOrganizationRow = OrganizationRow & {
  /** Ids of the active owners. */
  readonly owners: readonly string[];
};

const selectOwners = (team: Sql): Sql =>
  sql`, array(${selectActiveMembers(team, sql.raw('o.id'))} order by m.user_id) as owners`;

export const findAdministeredOrganization = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<AdministeredOrganizationRow> => {
  const row = await database.row<AdministeredOrganizationRow>(
    sql`select ${COLUMNS}${selectOwners(sql.raw('o.owners_team'))}
          from organizations o where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`,
  );
  requirePermission(actor, 'manage-site', SITE_SCOPE);
  if (!row) throw notFound();
  return row;
};

export const listAdministeredOrganizations = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  search: string | undefined,
): Promise<ListPage<AdministeredOrganizationRow>> => {
  // The statement of the list checks the access of site administrators.
  if (!can(actor, 'manage-site', SITE_SCOPE)) await verifyCurrentAccess(database, actor);
  requirePermission(actor, 'manage-site', SITE_SCOPE);
  const filter = { search, name: undefined, email: undefined };
  const where = sql.and([...buildConditions(filter), requireCurrentAccess(actor)]);
  const rows = await database.slowRows<ListRow<AdministeredOrganizationRow, { total: number }>>(
    actor,
    selectPage(where, page, selectOwners(sql.raw('o."ownersTeam"'))),
  );
  return toListPage(rows);
};

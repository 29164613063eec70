import { foldName, forbidden, hasSameName, notFound, sql, type Sql, type Tag, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot, selectStreamVersions } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  verifyCurrentAccess,
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  selectPermittedOrganization,
  loadParentOrganization,
  type Actor,
  type ParentOrganization,
  hasOrganizationName,
} from '#api/access';
import {
  buildLimitWithSize,
  toListPage,
  buildFittingPageSize,
  type ListPage,
  type ListRow,
  type PageRequest,
} from '#api/json-api';

export type RegistryProviderRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly registryName: 'private' | 'public';
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly tags: readonly Tag[];
  readonly versions: readonly string[];
};

/** Path parameters of a provider: `/organizations/:organization/registry-providers/:registryName/:namespace/:name`. */
export type ProviderPath = {
  readonly organization: string;
  readonly registryName: string;
  readonly namespace: string;
  readonly name: string;
};

/** Condition: the organization `o` curates public providers. */
const IS_CURATING = sql.raw(`(o.settings ->> 'publicProviderCurationEnabled')::boolean`);

const noCuration = () => forbidden('Public provider curation is disabled');

/**
 * Throws forbidden for a public provider, which has no versions here, if the caller can see the
 * organization. Throws not-found for paths that no private provider can have.
 */
export const requirePrivateProvider = async (
  database: Database,
  actor: Actor,
  path: Omit<ProviderPath, 'name'>,
): Promise<void> => {
  if (path.registryName === 'public') {
    await loadParentOrganization(database, actor, 'read-providers', path.organization);
    throw forbidden('Not available for public providers');
  }
  await requireProviderExists(database, actor, path);
};

/** Throws not-found for a path that no provider can have, whatever its name is. */
const requireProviderExists = async (
  database: Database,
  actor: Actor,
  { organization, registryName, namespace }: Omit<ProviderPath, 'name'>,
): Promise<void> => {
  if (registryName === 'public' || (registryName === 'private' && hasSameName(namespace, organization))) return;
  await verifyCurrentAccess(database, actor);
  throw notFound();
};

/**
 * Returns the organization for a caller that adds public providers. Throws forbidden while curation is disabled,
 * even for callers that may not add any: they can see the organization.
 */
export const loadCuratingOrganization = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<ParentOrganization> => {
  const row = await database.row<ParentOrganization & { readonly curating: boolean }>(sql`
    select o.id as organization, ${selectStreamVersions(sql.raw('array[o.id]'))} as preconditions,
           ${IS_CURATING} as curating
      from organizations o
     where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-providers', row);
  if (!row.curating) throw noCuration();
  requirePermission(actor, 'manage-providers', row);
  return row;
};

/** Throws as `loadCuratingOrganization` does while curation of public providers is disabled. */
const requireCuration = async (
  database: Database,
  actor: Actor,
  { organization, registryName }: ProviderPath,
): Promise<void> => {
  if (registryName !== 'public') return;
  const row = await database.row<{ readonly organization: string; readonly curating: boolean }>(sql`
    select o.id as organization, ${IS_CURATING} as curating
      from organizations o where ${hasOrganizationName('o', organization)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-providers', row);
  if (!row.curating) throw noCuration();
};

const columns = sql.raw(`
  p.id, p.organization, o.name as "organizationName", p.name, p.created_at as "createdAt", p.updated_at as "updatedAt",
  case when p.namespace is null then 'private' else 'public' end as "registryName",
  coalesce(p.namespace, o.name) as namespace, p.tags,
  array(select v.id from registry_provider_versions v where v.provider = p.id order by v.created_at desc, v.id) as versions`);

const FROM = sql.raw('from registry_providers p join organizations o on o.id = p.organization');

export const selectRegistryProviderById = (id: string): Sql => sql`select ${columns} ${FROM} where p.id = ${id}`;

/** Selects providers that the API shows. It shows public ones only while the organization curates them. */
export const selectShownProvidersByIds = (ids: Sql): Sql =>
  sql`select ${columns} ${FROM} where p.id = any (${ids}) and (p.namespace is null or ${IS_CURATING})`;

/** Returns the condition that a row of `p` and `o` is the provider at this path. */
export const isProviderAt = ({ organization, registryName, namespace, name }: ProviderPath): Sql =>
  registryName === 'public'
    ? sql`${hasOrganizationName('o', organization)} and p.name = ${foldName(name)} and lower(p.namespace) = lower(${namespace})`
    : sql`${hasOrganizationName('o', organization)} and p.name = ${foldName(name)} and p.namespace is null`;

export const findRegistryProviderByPath = async (
  database: Database,
  actor: Actor,
  path: ProviderPath,
): Promise<RegistryProviderRow> => {
  await requireProviderExists(database, actor, path);
  await requireCuration(database, actor, path);
  return findReadableProvider(database, actor, isProviderAt(path));
};

export const findRegistryProvider = (database: Database, actor: Actor, id: string): Promise<RegistryProviderRow> =>
  findReadableProvider(database, actor, sql`p.id = ${id}`);

const findReadableProvider = async (database: Database, actor: Actor, condition: Sql): Promise<RegistryProviderRow> => {
  const row = await database.row<RegistryProviderRow & { readonly curating: boolean }>(
    sql`select ${columns}, ${IS_CURATING} as curating ${FROM} where ${condition} and ${requireCurrentAccess(actor)}`,
  );
  if (!row) throw notFound();
  requirePermission(actor, 'read-providers', row);
  if (row.registryName === 'public' && !row.curating) throw noCuration();
  return row;
};

type RegistryProviderForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly name: string;
  readonly snapshot: StreamSnapshot;
  /** The oldest versions, as many as requested. */
  readonly versions: readonly { readonly id: string; readonly snapshot: StreamSnapshot }[];
};

export const loadRegistryProviderForCommand = async (
  database: Database,
  actor: Actor,
  path: ProviderPath,
  versions = 0,
): Promise<RegistryProviderForCommand> => {
  await requireProviderExists(database, actor, path);
  await requireCuration(database, actor, path);
  const row = await database.row<RegistryProviderForCommand>(sql`
    select p.id, p.organization, so.version as "organizationVersion", p.name, ${buildSnapshotJson('s')} as snapshot,
           coalesce((select jsonb_agg(jsonb_build_object('id', v.id, 'snapshot', ${buildSnapshotJson('sv')})
                                      order by v.created_at, v.id)
                       from (select id, created_at from registry_provider_versions
                              where provider = p.id order by created_at, id limit ${versions}) v
                       join event_store.streams sv on sv.stream = v.id), '[]') as versions
      ${FROM} join event_store.streams s on s.stream = p.id join event_store.streams so on so.stream = o.id
     where ${isProviderAt(path)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-providers', row);
};

export const VERSIONS_PER_DELETION = 50;

type VersionsOfDeletedProvider = {
  readonly provider: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly versions: RegistryProviderForCommand['versions'];
};

/** Returns the oldest versions of one provider that was deleted for good, as many as requested; undefined if none remain. */
export const findVersionsOfDeletedProvider = (
  database: Database,
  versions: number,
): Promise<VersionsOfDeletedProvider | undefined> =>
  database.row<VersionsOfDeletedProvider>(sql`
    select gone.provider, gone.organization, so.version as "organizationVersion",
           (select jsonb_agg(jsonb_build_object('id', v.id, 'snapshot', ${buildSnapshotJson('sv')}) order by v.created_at, v.id)
              from (select id, created_at from registry_provider_versions
                     where provider = gone.provider order by created_at, id limit ${versions}) v
              join event_store.streams sv on sv.stream = v.id) as versions
      from (select v.provider, v.organization from registry_provider_versions v
             where not exists (select from registry_providers p where p.id = v.provider)
               and not exists (select from deleted_registry_providers d where d.id = v.provider)
             order by v.provider limit 1) gone
      join event_store.streams so on so.stream = gone.organization`);

type RegistryProviderFilter = {
  readonly search: string | undefined;
  readonly registryName: string | undefined;
  readonly organizationName: string | undefined;
};

/** A page of providers. It has fewer items than requested if the providers have many versions. */
type ListedProviders = ListPage<RegistryProviderRow> & { readonly pageSize: number };

/** Bytes of a platform in an included version, and of a version's id in a provider. */
const BYTES_OF_REFERENCE = 80;
/** Bytes of the included version in the row `v`, measured with upload links. */
export const BYTES_OF_VERSION = sql`1300::bigint + ${BYTES_OF_REFERENCE} * (
  select count(*) from registry_provider_platforms l where l.version = v.id)`;

const inRegistry = (registryName: string): Sql => {
  if (registryName === 'private') return sql`p.namespace is null`;
  return registryName === 'public' ? sql`p.namespace is not null` : sql`false`;
};

/**
 * Returns the page size as an SQL expression. Each provider contains the ids of all its versions, and `include` adds
 * their documents.
 */
const sizeOf = (page: PageRequest, withVersions: boolean, where: Sql): Sql => {
  const bytes = withVersions ? BYTES_OF_VERSION : sql`${BYTES_OF_REFERENCE}::bigint`;
  return buildFittingPageSize(
    page,
    sql`select sum(${bytes})::bigint from registry_providers p join registry_provider_versions v on v.provider = p.id
         where ${where} group by p.id`,
  );
};

/**
 * Returns one page and the total count, in one statement. Omits public providers while the organization does not curate
 * them.
 */
export const listRegistryProviders = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  { search, registryName, organizationName: ofOrganization }: RegistryProviderFilter,
  withVersions: boolean,
): Promise<ListedProviders> => {
  const where = sql.and([
    sql`p.organization = o.id`,
    sql`(p.namespace is null or ${IS_CURATING})`,
    ...(registryName ? [inRegistry(registryName)] : []),
    ...(ofOrganization ? [sql`${hasOrganizationName('o', ofOrganization)}`] : []),
    ...(search ? [sql`position(lower(${search}) in lower(coalesce(p.namespace || '/', '') || p.name)) > 0`] : []),
  ]);
  const rows = await database.slowRows<
    ListRow<RegistryProviderRow, { owner: string; total: number; pageSize: number }>
  >(
    actor,
    sql`
    select o.id as owner, o."pageSize", (select count(*) from registry_providers p where ${where}) as total, page.*
      from (select o.*, ${sizeOf(page, withVersions, where)} as "pageSize"
              from (select id, name, settings, created_at
                      from ${selectPermittedOrganization(actor, 'read-providers', organizationName)}) o offset 0) o
      left join lateral (select ${columns} from registry_providers p where ${where}
                          order by p.name, p.id ${buildLimitWithSize(page, sql.raw('o."pageSize"'))}) page on true
     order by page.name, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-providers', { organization: first.owner });
  return { ...toListPage(rows), pageSize: first.pageSize };
};

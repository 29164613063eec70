import { foldInSql, foldName, hasSameName, notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  hasOrganizationName,
  requireCurrentAccess,
  requirePermission,
  requirePermittedRow,
  selectPermittedOrganization,
  selectPermittedScopes,
  toPermittedPage,
  verifyCurrentAccess,
  type Actor,
} from '#api/access';
import {
  buildFittingPageSize,
  buildLimit,
  buildLimitWithSize,
  toListPage,
  type ListPage,
  type ListRow,
  type PageRequest,
} from '#api/json-api';

/** Path parameters of a module: `/organizations/:organization/registry-modules/:registryName/:namespace/:name/:provider`. */
export type ModulePath = {
  readonly organization: string;
  readonly registryName: string;
  readonly namespace: string;
  readonly name: string;
  readonly provider: string;
};

export type RegistryModuleRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  readonly provider: string;
  readonly noCode: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** The newest first. */
  readonly versions: readonly { readonly version: string; readonly isUploaded: boolean }[];
};

const MODULE_COLUMNS = sql.raw(`
  m.id, m.organization, o.name as "organizationName", m.name, m.provider, m.no_code as "noCode",
  m.created_at as "createdAt", m.updated_at as "updatedAt",
  coalesce((select jsonb_agg(jsonb_build_object('version', v.version, 'isUploaded', v.archive is not null)
                             order by v.sortable desc, v.id)
              from registry_module_versions v where v.module = m.id), '[]') as versions`);

const FROM_MODULES = sql.raw('from registry_modules m join organizations o on o.id = m.organization');

export const selectModuleById = (id: string): Sql => sql`select ${MODULE_COLUMNS} ${FROM_MODULES} where m.id = ${id}`;

export const selectModulesByIds = (ids: Sql): Sql =>
  sql`select ${MODULE_COLUMNS} ${FROM_MODULES} where m.id = any (${ids})`;

const hasModuleName = (name: string): Sql => sql`${foldInSql(sql.raw('m.name'))} = ${foldName(name)}`;

/** Returns the condition that a row of `m` and `o` is the module at this path. */
const isModuleAt = ({ organization, name, provider }: ModulePath): Sql =>
  sql`${hasOrganizationName('o', organization)} and ${hasModuleName(name)} and m.provider = ${provider}`;

type ModuleScope = Pick<ModulePath, 'organization' | 'registryName' | 'namespace'>;

/** Throws not-found for a path that no private module can have. */
const requireModulePath = async (
  database: Database,
  actor: Actor,
  { organization, registryName, namespace }: ModuleScope,
): Promise<void> => {
  if (registryName === 'private' && hasSameName(namespace, organization)) return;
  await verifyCurrentAccess(database, actor);
  throw notFound();
};

const findReadableModule = async (database: Database, actor: Actor, condition: Sql): Promise<RegistryModuleRow> => {
  const row = await database.row<RegistryModuleRow>(
    sql`select ${MODULE_COLUMNS} ${FROM_MODULES} where ${condition} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-modules', row);
};

export const findModule = (database: Database, actor: Actor, id: string): Promise<RegistryModuleRow> =>
  findReadableModule(database, actor, sql`m.id = ${id}`);

export const findModuleByPath = async (
  database: Database,
  actor: Actor,
  path: ModulePath,
): Promise<RegistryModuleRow> => {
  await requireModulePath(database, actor, path);
  return findReadableModule(database, actor, isModuleAt(path));
};

export type RegistryModuleVersionRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly module: string;
  readonly moduleName: string;
  readonly provider: string;
  readonly version: string;
  readonly commitSha: string | null;
  readonly archive: number | null;
  readonly sortable: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

const VERSION_COLUMNS = sql.raw(`
  v.id, v.organization, o.name as "organizationName", m.id as module, m.name as "moduleName", m.provider, v.version,
  v.commit_sha as "commitSha", v.archive, v.sortable, v.created_at as "createdAt", v.updated_at as "updatedAt"`);

const FROM_VERSIONS = sql.raw(`from registry_module_versions v
  join registry_modules m on m.id = v.module join organizations o on o.id = m.organization`);

export const selectModuleVersionById = (id: string): Sql =>
  sql`select ${VERSION_COLUMNS} ${FROM_VERSIONS} where v.id = ${id}`;

export const findModuleVersion = async (
  database: Database,
  actor: Actor,
  path: ModulePath,
  version: string,
): Promise<RegistryModuleVersionRow> => {
  await requireModulePath(database, actor, path);
  const row = await database.row<RegistryModuleVersionRow>(sql`
    select ${VERSION_COLUMNS} ${FROM_VERSIONS}
     where ${isModuleAt(path)} and v.version = ${version} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-modules', row);
};

/** Returns a page of the versions of a module, the newest first. */
export const listModuleVersions = async (
  database: Database,
  actor: Actor,
  path: ModulePath,
  page: PageRequest,
): Promise<ListPage<RegistryModuleVersionRow>> => {
  await requireModulePath(database, actor, path);
  const modules = sql`
    select m.id, m.organization ${FROM_MODULES} where ${isModuleAt(path)} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<RegistryModuleVersionRow, { owner: string; total: number }>>(
    actor,
    sql`
    select o.id as owner, (select count(*) from registry_module_versions v where v.module = m.id) as total, page.*
      from ${selectPermittedScopes(actor, 'read-modules', modules)} place
      join registry_modules m on m.id = place.id join organizations o on o.id = place.organization
      left join lateral (select ${VERSION_COLUMNS} from registry_module_versions v where v.module = m.id
                          order by v.sortable desc, v.id ${buildLimit(page)}) page on true
     order by page.sortable desc, page.id`,
  );
  return toPermittedPage(actor, 'read-modules', rows);
};

type ModuleForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly preconditions: readonly StreamVersion[];
  readonly snapshot: StreamSnapshot;
};

const COMMAND_COLUMNS = sql`m.id, m.organization,
  ${selectStreamVersions(sql.raw('array[m.organization]'))} as preconditions, ${buildSnapshotJson('s')} as snapshot`;

const requireManageable = <R extends { readonly organization: string }>(actor: Actor, row: R | undefined): R => {
  const readable = requirePermittedRow(actor, 'read-modules', row);
  requirePermission(actor, 'manage-modules', readable);
  return readable;
};

export const loadModuleForCommand = async (
  database: Database,
  actor: Actor,
  path: ModulePath,
): Promise<ModuleForCommand> => {
  await requireModulePath(database, actor, path);
  const row = await database.row<ModuleForCommand>(sql`
    select ${COMMAND_COLUMNS} ${FROM_MODULES} join event_store.streams s on s.stream = m.id
     where ${isModuleAt(path)} and ${requireCurrentAccess(actor)}`);
  return requireManageable(actor, row);
};

/** Returns the modules with this name, for all their providers. Throws not-found if there are none. */
export const loadModulesForDeletion = async (
  database: Database,
  actor: Actor,
  path: Omit<ModulePath, 'provider'>,
  limit: number,
): Promise<readonly ModuleForCommand[]> => {
  await requireModulePath(database, actor, path);
  const rows = await database.rows<ModuleForCommand>(sql`
    select ${COMMAND_COLUMNS} ${FROM_MODULES} join event_store.streams s on s.stream = m.id
     where ${hasOrganizationName('o', path.organization)} and ${hasModuleName(path.name)}
       and ${requireCurrentAccess(actor)}
     order by m.id limit ${limit}`);
  requireManageable(actor, rows[0]);
  return rows;
};

type RegistryModuleFilter = {
  readonly search: string | undefined;
  readonly registryName: string | undefined;
  readonly organizationName: string | undefined;
  readonly provider: string | undefined;
};

/** Bytes of a module in a page, and of a version in it. */
const BYTES_OF_MODULE = 1_500;
const BYTES_OF_VERSION = 80;

/** A page of modules. It has fewer items than requested if the modules have many versions. */
type ListedModules = ListPage<RegistryModuleRow> & { readonly pageSize: number };

export const listModules = async (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
  filter: RegistryModuleFilter,
): Promise<ListedModules> => {
  const { search, registryName, organizationName, provider } = filter;
  const where = sql.and([
    sql`m.organization = o.id`,
    ...(registryName && registryName !== 'private' ? [sql`false`] : []),
    ...(organizationName ? [hasOrganizationName('o', organizationName)] : []),
    ...(provider ? [sql`m.provider = ${provider}`] : []),
    ...(search ? [sql`position(lower(${search}) in lower(m.name || '/' || m.provider)) > 0`] : []),
  ]);
  const bytes = sql`
    select ${BYTES_OF_MODULE}::bigint + ${BYTES_OF_VERSION} * (
             select count(*) from registry_module_versions v where v.module = m.id)
      from registry_modules m where ${where}`;
  const rows = await database.slowRows<ListRow<RegistryModuleRow, { owner: string; total: number; pageSize: number }>>(
    actor,
    sql`
    select o.id as owner, o."pageSize", (select count(*) from registry_modules m where ${where}) as total, page.*
      from (select o.*, ${buildFittingPageSize(page, bytes)} as "pageSize"
              from (select id, name, settings, created_at
                      from ${selectPermittedOrganization(actor, 'read-modules', organization)}) o offset 0) o
      left join lateral (select ${MODULE_COLUMNS} from registry_modules m where ${where}
                          order by m.name, m.provider, m.id ${buildLimitWithSize(page, sql.raw('o."pageSize"'))}) page on true
     order by page.name, page.provider, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-modules', { organization: first.owner });
  return { ...toListPage(rows), pageSize: first.pageSize };
};

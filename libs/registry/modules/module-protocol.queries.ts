import { foldInSql, foldName, notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  can,
  hasOrganizationName,
  isPermittedByRole,
  requireCurrentAccess,
  requireOpenOrganization,
  type Actor,
} from '#api/access';

export type ModuleAddressPath = { readonly namespace: string; readonly name: string; readonly provider: string };

type InstallableModule = {
  readonly organization: string;
  readonly namespace: string;
  readonly name: string;
  readonly provider: string;
  /** The versions that clients can install, the newest first, releases before pre-releases. */
  readonly versions: readonly InstallableModuleVersion[];
};

export type InstallableModuleVersion = {
  readonly id: string;
  readonly version: string;
  readonly commitSha: string | null;
  readonly publishedAt: Timestamp;
};

/** Selects the organization of a namespace as `o`, the same for every caller. Clients write namespaces in lower case. */
const selectNamespace = (namespace: string): Sql => sql`
  (select id, name from organizations where ${hasOrganizationName('organizations', namespace)}) o`;

/** Orders the rows of `v`: clients install the first one unless a configuration names another. */
const BY_PREFERENCE = sql.raw('v.pre_release, v.sortable desc');

const VERSION_JSON = sql.raw(`jsonb_build_object('id', v.id, 'version', v.version, 'commitSha', v.commit_sha,
  'publishedAt', to_char(v.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`);

export const findInstallableModule = async (
  database: Database,
  actor: Actor,
  { namespace, name, provider }: ModuleAddressPath,
): Promise<InstallableModule> => {
  const row = await database.row<InstallableModule>(sql`
    select m.organization, o.name as namespace, m.name, m.provider,
           coalesce((select jsonb_agg(${VERSION_JSON} order by ${BY_PREFERENCE})
                       from registry_module_versions v where v.module = m.id and v.archive is not null), '[]') as versions
      from ${selectNamespace(namespace)} join registry_modules m on m.organization = o.id
     where ${foldInSql(sql.raw('m.name'))} = ${foldName(name)} and m.provider = ${provider}
       and ${requireCurrentAccess(actor)}`);
  if (row) requireOpenOrganization(actor, row.organization);
  if (!row || !can(actor, 'read-modules', row)) throw notFound(`There is no module ${namespace}/${name}/${provider}`);
  return row;
};

export type ListedModule = {
  readonly namespace: string;
  readonly name: string;
  readonly provider: string;
  readonly version: string;
  readonly publishedAt: Timestamp;
};

type ModuleListFilter = {
  /** Null: all organizations of the caller. */
  readonly namespace: string | null;
  readonly search: string | undefined;
  readonly provider: string | undefined;
  readonly offset: number;
  readonly limit: number;
};

/** Returns the modules that have a version to install, in the order of their names. */
export const listInstallableModules = (
  database: Database,
  actor: Actor,
  { namespace, search, provider, offset, limit }: ModuleListFilter,
): Promise<readonly ListedModule[]> =>
  database.slowRows<ListedModule>(
    actor,
    sql`
    select o.name as namespace, m.name, m.provider, newest.version, newest.updated_at as "publishedAt"
      from registry_modules m join organizations o on o.id = m.organization
     cross join lateral (select v.version, v.updated_at from registry_module_versions v
                          where v.module = m.id and v.archive is not null order by ${BY_PREFERENCE} limit 1) newest
     where ${sql.and([
       isPermittedByRole(actor, 'read-modules', sql.raw('m.organization')),
       requireCurrentAccess(actor),
       ...(namespace === null ? [] : [hasOrganizationName('o', namespace)]),
       ...(provider ? [sql`m.provider = ${provider}`] : []),
       ...(search ? [sql`position(lower(${search}) in lower(m.name || '/' || m.provider)) > 0`] : []),
     ])}
     order by o.name, m.name, m.provider, m.id limit ${limit} offset ${offset}`,
  );

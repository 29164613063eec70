import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermittedRow,
  requireCurrentAccess,
  selectPermittedScopes,
  toPermittedPage,
  type Actor,
} from '#api/access';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { PlatformAttributes } from './registry-provider-platform.js';
import { FROM_VERSIONS, type VersionPath } from '../versions/registry-provider-versions.queries.js';
import { requirePrivateProvider, isProviderAt } from '../providers/registry-providers.queries.js';

export type RegistryProviderPlatformRow = PlatformAttributes & {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly providerName: string;
  readonly version: string;
  readonly versionId: string;
  /** Size of the zip in bytes; null until it is uploaded. */
  readonly size: number | null;
};

export type PlatformPath = VersionPath & Pick<PlatformAttributes, 'os' | 'arch'>;

const columns = sql.raw(`
  l.id, l.os, l.arch, l.filename, l.shasum, l.size, v.id as "versionId", v.version, v.organization,
  o.name as "organizationName", p.name as "providerName"`);

export const selectPlatformById = (id: string): Sql => sql`
  select ${columns} ${FROM_VERSIONS} join registry_provider_platforms l on l.version = v.id where l.id = ${id}`;

export const selectPlatformsByIds = (ids: Sql): Sql => sql`
  select ${columns} ${FROM_VERSIONS} join registry_provider_platforms l on l.version = v.id where l.id = any (${ids})`;

export const findPlatform = async (
  database: Database,
  actor: Actor,
  path: PlatformPath,
): Promise<RegistryProviderPlatformRow> => {
  await requirePrivateProvider(database, actor, path);
  const row = await database.row<RegistryProviderPlatformRow>(sql`
    select ${columns} ${FROM_VERSIONS} join registry_provider_platforms l on l.version = v.id
     where ${isProviderAt(path)} and v.version = ${path.version} and l.os = ${path.os} and l.arch = ${path.arch} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-providers', row);
};

export const listPlatforms = async (
  database: Database,
  actor: Actor,
  path: VersionPath,
  page: PageRequest,
): Promise<ListPage<RegistryProviderPlatformRow>> => {
  await requirePrivateProvider(database, actor, path);
  const versions = sql`
    select v.id, o.id as organization ${FROM_VERSIONS}
     where ${isProviderAt(path)} and v.version = ${path.version} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<RegistryProviderPlatformRow, { owner: string; total: number }>>(
    actor,
    sql`
    select o.id as owner, (select count(*) from registry_provider_platforms l where l.version = v.id) as total, page.*
      from ${selectPermittedScopes(actor, 'read-providers', versions)} place
      join registry_provider_versions v on v.id = place.id
      join registry_providers p on p.id = v.provider join organizations o on o.id = p.organization
      left join lateral (select ${columns} from registry_provider_platforms l where l.version = v.id
                          order by l.os, l.arch ${buildLimit(page)}) page on true
     order by page.os, page.arch`,
  );
  return toPermittedPage(actor, 'read-providers', rows);
};

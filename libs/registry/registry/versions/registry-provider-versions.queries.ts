import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermittedRow,
  requireCurrentAccess,
  selectPermittedScopes,
  toPermittedPage,
  type Actor,
} from '#api/access';
import { buildLimit, PAGE_BYTES, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { Protocol } from '#registry/provider-release/rules';
import { VENDOR_KEY_IDS } from '#registry/provider-release';
import type { StoredFile } from './registry-provider-version.js';
import {
  BYTES_OF_VERSION,
  requirePrivateProvider,
  isProviderAt,
  type ProviderPath,
} from '../providers/registry-providers.queries.js';

export type VersionPath = ProviderPath & { readonly version: string };

/** A platform as documents of versions contain it. */
type PlatformOfVersion = {
  readonly id: string;
  readonly os: string;
  readonly arch: string;
  readonly filename: string;
  /** Size of the zip in bytes; null until it is uploaded. */
  readonly size: number | null;
};

export type RegistryProviderVersionRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly provider: string;
  readonly providerName: string;
  readonly version: string;
  readonly keyId: string;
  readonly protocols: readonly Protocol[];
  readonly shasums: StoredFile | null;
  readonly signature: (StoredFile & { readonly verified: boolean }) | null;
  readonly publishedAt: Timestamp | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly platforms: readonly PlatformOfVersion[];
  /** Whether the registry has the key of the version. Clients need it to verify the signature. */
  readonly hasKey: boolean;
};

/** Columns that determine what the version lacks. */
export type VersionCompleteness = Pick<RegistryProviderVersionRow, 'keyId' | 'hasKey' | 'shasums' | 'signature'> & {
  readonly platforms: readonly Pick<PlatformOfVersion, 'filename' | 'size'>[];
};

/**
 * Selects the organization's own key that the version in row `v` names. Key ids are stored in upper case (gpg-key.ts). The
 * own key has precedence over a key that every organization has, because the organization can renew its own key.
 */
export const FROM_VERSION_KEY = sql.raw(
  'from gpg_keys k where k.organization = v.organization and k.key_id = upper(v.key_id)',
);

/** The condition that clients get the key that the version in row `v` names. */
export const HAS_VERSION_KEY = sql`(upper(v.key_id) = any (${VENDOR_KEY_IDS}::text[]) or exists (select 1 ${FROM_VERSION_KEY}))`;

const columns = sql`
  v.id, v.organization, o.name as "organizationName", p.id as provider, p.name as "providerName", v.version,
  v.key_id as "keyId", v.protocols, v.shasums, v.signature, v.published_at as "publishedAt",
  v.created_at as "createdAt", v.updated_at as "updatedAt",
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'os', l.os, 'arch', l.arch, 'filename', l.filename,
                                                'size', l.size) order by l.os, l.arch)
              from registry_provider_platforms l where l.version = v.id), '[]') as platforms,
  ${HAS_VERSION_KEY} as "hasKey"`;

export const FROM_VERSIONS = sql.raw(`from registry_provider_versions v
  join registry_providers p on p.id = v.provider join organizations o on o.id = p.organization`);

export const selectVersionById = (id: string): Sql => sql`select ${columns} ${FROM_VERSIONS} where v.id = ${id}`;

export const selectVersionsByIds = (ids: Sql): Sql => sql`select ${columns} ${FROM_VERSIONS} where v.id = any (${ids})`;

/** Returns the newest of these versions, newest first, as many as fit into the bytes of one page. */
export const newestVersions = (ids: Sql): Sql => sql`
  select ${columns}
    from (select v.id, sum(${BYTES_OF_VERSION}) over (order by v.created_at desc, v.id) as bytes
            from registry_provider_versions v where v.id = any (${ids})) newest
    join registry_provider_versions v on v.id = newest.id
    join registry_providers p on p.id = v.provider join organizations o on o.id = p.organization
   where newest.bytes <= ${PAGE_BYTES} order by v.created_at desc, v.id`;

export const findVersion = async (
  database: Database,
  actor: Actor,
  path: VersionPath,
): Promise<RegistryProviderVersionRow> => {
  await requirePrivateProvider(database, actor, path);
  const row = await database.row<RegistryProviderVersionRow>(
    sql`select ${columns} ${FROM_VERSIONS} where ${isProviderAt(path)} and v.version = ${path.version} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-providers', row);
};

export const listVersions = async (
  database: Database,
  actor: Actor,
  path: ProviderPath,
  page: PageRequest,
): Promise<ListPage<RegistryProviderVersionRow>> => {
  await requirePrivateProvider(database, actor, path);
  const providers = sql`
    select p.id, p.organization from registry_providers p join organizations o on o.id = p.organization
     where ${isProviderAt(path)} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<RegistryProviderVersionRow, { owner: string; total: number }>>(
    actor,
    sql`
    select o.id as owner, (select count(*) from registry_provider_versions v where v.provider = p.id) as total, page.*
      from ${selectPermittedScopes(actor, 'read-providers', providers)} place
      join registry_providers p on p.id = place.id join organizations o on o.id = place.organization
      left join lateral (select ${columns} from registry_provider_versions v where v.provider = p.id
                          order by v.created_at desc, v.id ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id`,
  );
  return toPermittedPage(actor, 'read-providers', rows);
};

export type ProviderForVersion = {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly provider: string;
  readonly providerVersion: number;
  readonly providerName: string;
};

const providerScopeColumns = sql.raw(`
  o.id as organization, so.version as "organizationVersion", p.id as provider, sp.version as "providerVersion",
  p.name as "providerName"`);

const SCOPE_STREAM_JOINS = sql.raw(`join event_store.streams so on so.stream = o.id
  join event_store.streams sp on sp.stream = p.id`);

/** `siblings`: number of versions that the provider has. */
type ProviderForNewVersion = ProviderForVersion & { readonly siblings: number };

export const loadProviderForNewVersion = async (
  database: Database,
  actor: Actor,
  path: ProviderPath,
): Promise<ProviderForNewVersion> => {
  const row = await database.row<ProviderForNewVersion>(sql`
    select ${providerScopeColumns}, (select count(*) from registry_provider_versions v where v.provider = p.id) as siblings
      from registry_providers p join organizations o on o.id = p.organization ${SCOPE_STREAM_JOINS}
     where ${isProviderAt(path)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-providers', row);
};

type VersionForCommand = ProviderForVersion & { readonly id: string; readonly snapshot: StreamSnapshot };

export const loadVersionForCommand = async (
  database: Database,
  actor: Actor,
  path: VersionPath,
): Promise<VersionForCommand> => {
  const row = await database.row<VersionForCommand>(sql`
    select v.id, ${providerScopeColumns}, ${buildSnapshotJson('s')} as snapshot
      ${FROM_VERSIONS} ${SCOPE_STREAM_JOINS} join event_store.streams s on s.stream = v.id
     where ${isProviderAt(path)} and v.version = ${path.version} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-providers', row);
};

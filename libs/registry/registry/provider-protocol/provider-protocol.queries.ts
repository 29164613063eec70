import { foldName, notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { hasOrganizationName, requireCurrentAccess, requireOpenOrganization, can, type Actor } from '#api/access';
import { formatPlatform, type Protocol } from '#registry/provider-release/rules';
import {
  FROM_VERSION_KEY,
  HAS_VERSION_KEY,
  type VersionCompleteness,
} from '../versions/registry-provider-versions.queries.js';

type InstallableVersion = {
  readonly version: string;
  readonly protocols: readonly Protocol[];
  readonly platforms: readonly { readonly os: string; readonly arch: string }[];
};

export type InstallableProvider = {
  readonly organization: string;
  readonly served: readonly InstallableVersion[];
  /** The newest version that is not served because something is missing. */
  readonly unserved: IncompleteVersion | null;
};

export type IncompleteVersion = VersionCompleteness & { readonly version: string };

/** Selects the organization of a namespace as `o`, the same for every caller. Clients write namespaces in lower case. */
const selectNamespace = (namespace: string): Sql => sql`
  (select id from organizations where ${hasOrganizationName('organizations', namespace)}) o`;

/**
 * Returns the provider with everything that a client can install, in one statement: published versions whose key
 * the registry has, with those platforms whose zip is uploaded.
 */
export const findInstallableProvider = async (
  database: Database,
  actor: Actor,
  namespace: string,
  name: string,
): Promise<InstallableProvider> => {
  const row = await database.row<InstallableProvider>(sql`
    select p.organization,
           coalesce(jsonb_agg(jsonb_build_object('version', v.version, 'protocols', v.protocols, 'platforms', v.here)
                              order by v.created_at, v.version) filter (where v.served), '[]') as served,
           (jsonb_agg(jsonb_build_object('version', v.version, 'keyId', v.key_id, 'hasKey', v.has_key,
                                         'shasums', v.shasums, 'signature', v.signature, 'platforms', v.platforms)
                      order by v.created_at desc, v.version) filter (where not v.served)) -> 0 as unserved
      from ${selectNamespace(namespace)} join registry_providers p on p.organization = o.id and p.namespace is null
      left join lateral (
        select v.version, v.protocols, v.created_at, v.key_id, v.shasums, v.signature, l.here, its.key as has_key,
               coalesce(l.platforms, '[]') as platforms,
               v.published_at is not null and its.key and l.here is not null as served
          from registry_provider_versions v
         cross join lateral (select ${HAS_VERSION_KEY} as key) its
         cross join lateral (
           select jsonb_agg(jsonb_build_object('filename', l.filename, 'size', l.size) order by l.os, l.arch) as platforms,
                  jsonb_agg(jsonb_build_object('os', l.os, 'arch', l.arch) order by l.os, l.arch)
                    filter (where l.size is not null) as here
             from registry_provider_platforms l where l.version = v.id) l
         where v.provider = p.id) v on true
     where p.name = ${foldName(name)} and ${requireCurrentAccess(actor)}
     group by p.organization`);
  if (row) requireOpenOrganization(actor, row.organization);
  if (!row || !can(actor, 'read-providers', row)) throw notFound(`There is no provider ${namespace}/${name}`);
  return row;
};

type InstallablePackage = {
  readonly organization: string;
  readonly provider: string;
  readonly version: string;
  readonly versionId: string;
  readonly protocols: readonly Protocol[];
  readonly platform: string;
  readonly filename: string;
  readonly shasum: string;
  readonly keyId: string;
  /** Null if the organization has no copy of its own, so that the registry's copy is used. */
  readonly asciiArmor: string | null;
};

export type PackagePath = {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
};

export const findInstallablePackage = async (
  database: Database,
  actor: Actor,
  path: PackagePath,
): Promise<InstallablePackage> => {
  const row = await database.row<InstallablePackage>(sql`
    select p.organization, p.name as provider, v.version, v.id as "versionId", v.protocols, l.id as platform, l.filename,
           l.shasum, upper(v.key_id) as "keyId", (select k.ascii_armor ${FROM_VERSION_KEY}) as "asciiArmor"
      from ${selectNamespace(path.namespace)} join registry_providers p on p.organization = o.id and p.namespace is null
      join registry_provider_versions v on v.provider = p.id join registry_provider_platforms l on l.version = v.id
     where p.name = ${foldName(path.name)} and v.version = ${path.version}
       and l.os = ${path.os} and l.arch = ${path.arch} and l.size is not null and v.published_at is not null
       and ${HAS_VERSION_KEY} and ${requireCurrentAccess(actor)}`);
  if (row) requireOpenOrganization(actor, row.organization);
  if (!row || !can(actor, 'read-providers', row)) {
    throw notFound(`There is no package of ${path.name} ${path.version} for ${formatPlatform(path)}`);
  }
  return row;
};

import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import { fresh, may, type Actor } from '#access';
import { nameOfPlatform, type Protocol } from '#provider-release/rules';
import { ITS_KEY, type Wanting } from './registry-provider-versions.queries.js';

export type ServedVersion = {
  readonly version: string;
  readonly protocols: readonly Protocol[];
  readonly platforms: readonly { readonly os: string; readonly arch: string }[];
};

export type ServedProvider = {
  readonly organization: string;
  readonly served: readonly ServedVersion[];
  /** The newest of the versions that are not served, for want of something. */
  readonly unserved: Unserved | null;
};

export type Unserved = Wanting & { readonly version: string };

/**
 * The organization of a namespace as `o`, the same for every caller. Clients write namespaces in lower case. If no name is
 * spelled like the namespace, the only organization with that name in any case counts. If several names differ only in
 * case, and none is spelled like the namespace, there is none.
 */
const namespaceOf = (namespace: string): Sql => sql`
  (select id from organizations named
    where lower(name) = lower(${namespace})
      and (name = ${namespace}
           or not exists (select 1 from organizations other
                           where lower(other.name) = lower(${namespace}) and other.id <> named.id))) o`;

/**
 * The provider with all that a client may install, in one statement: versions that were whole once and can be proved, and
 * of them the platforms that are here.
 */
export const servedProvider = async (
  database: Database,
  actor: Actor,
  namespace: string,
  name: string,
): Promise<ServedProvider> => {
  const row = await database.row<ServedProvider>(sql`
    select p.organization,
           coalesce(jsonb_agg(jsonb_build_object('version', v.version, 'protocols', v.protocols, 'platforms', v.here)
                              order by v.created_at, v.version) filter (where v.served), '[]') as served,
           (jsonb_agg(jsonb_build_object('version', v.version, 'keyId', v.key_id, 'hasKey', v.has_key,
                                         'shasums', v.shasums, 'signature', v.signature, 'platforms', v.platforms)
                      order by v.created_at desc, v.version) filter (where not v.served)) -> 0 as unserved
      from ${namespaceOf(namespace)} join registry_providers p on p.organization = o.id and p.namespace is null
      left join lateral (
        select v.version, v.protocols, v.created_at, v.key_id, v.shasums, v.signature, l.here, its.key as has_key,
               coalesce(l.platforms, '[]') as platforms,
               v.published_at is not null and its.key and l.here is not null as served
          from registry_provider_versions v
         cross join lateral (select exists (select 1 ${ITS_KEY}) as key) its
         cross join lateral (
           select jsonb_agg(jsonb_build_object('filename', l.filename, 'size', l.size) order by l.os, l.arch) as platforms,
                  jsonb_agg(jsonb_build_object('os', l.os, 'arch', l.arch) order by l.os, l.arch)
                    filter (where l.size is not null) as here
             from registry_provider_platforms l where l.version = v.id) l
         where v.provider = p.id) v on true
     where p.name = ${name} and ${fresh(actor)}
     group by p.organization`);
  if (!row || !may(actor, 'read-providers', row)) throw notFound(`There is no provider ${namespace}/${name}`);
  return row;
};

export type ServedPackage = {
  readonly organization: string;
  readonly provider: string;
  readonly version: string;
  readonly versionId: string;
  readonly protocols: readonly Protocol[];
  readonly platform: string;
  readonly filename: string;
  readonly shasum: string;
  readonly keyId: string;
  readonly asciiArmor: string;
};

export type PackagePath = {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
};

/** One package of a version that is served. */
export const servedPackage = async (database: Database, actor: Actor, path: PackagePath): Promise<ServedPackage> => {
  const row = await database.row<ServedPackage>(sql`
    select p.organization, p.name as provider, v.version, v.id as "versionId", v.protocols, l.id as platform, l.filename,
           l.shasum, k.key_id as "keyId", k.ascii_armor as "asciiArmor"
      from ${namespaceOf(path.namespace)} join registry_providers p on p.organization = o.id and p.namespace is null
      join registry_provider_versions v on v.provider = p.id join registry_provider_platforms l on l.version = v.id
     cross join lateral (select k.key_id, k.ascii_armor ${ITS_KEY}) k
     where p.name = ${path.name} and v.version = ${path.version}
       and l.os = ${path.os} and l.arch = ${path.arch} and l.size is not null and v.published_at is not null
       and ${fresh(actor)}`);
  if (!row || !may(actor, 'read-providers', row)) {
    throw notFound(`There is no package of ${path.name} ${path.version} for ${nameOfPlatform(path)}`);
  }
  return row;
};

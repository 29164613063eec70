import {
  restoreRows,
  moveToDeleted,
  sql,
  type Projection,
  type OrganizationDeleted,
  type RecoverableRows,
} from '#platform/kernel';
import { stripBuildMetadata } from '#registry/provider-release/rules';
import type { GpgKeyEvent } from './gpg-keys/gpg-key.js';
import type { RegistryProviderEvent } from './providers/registry-provider.js';
import type { RegistryProviderVersionEvent } from './versions/registry-provider-version.js';

const PROVIDER_ROWS: RecoverableRows = { table: 'registry_providers', deletedTable: 'deleted_registry_providers' };

export const registryProviders: Projection<RegistryProviderEvent | OrganizationDeleted> = {
  name: 'registry_providers',
  // Earlier versions do not write the second table.
  version: 2,
  tables: ['registry_providers', 'deleted_registry_providers'],
  names: [{ table: 'deleted_registry_providers', column: 'deleted_by' }],
  on: {
    RegistryProviderCreated: ({ name, namespace }, { stream, organization, time }) => sql`
      insert into registry_providers (id, organization, name, namespace, created_at, updated_at)
      values (${stream}, ${organization}, ${name}, ${namespace}, ${time}, ${time})`,
    RegistryProviderTagsChanged: ({ to }, { stream, time }) => sql`
      update registry_providers set tags = ${sql.json(to)}::jsonb, updated_at = ${time} where id = ${stream}`,
    RegistryProviderDeleted: ({ recoverableUntil }, event) =>
      recoverableUntil === null
        ? sql`delete from registry_providers where id = ${event.stream}`
        : moveToDeleted(PROVIDER_ROWS, { where: sql`id = ${event.stream}` }, recoverableUntil, event),
    RegistryProviderRecovered: ({ name }, { stream, time }) =>
      restoreRows(PROVIDER_ROWS, sql`id = ${stream}`, { name, updated_at: time }),
    RegistryProviderPurged: (_, { stream }) => sql`delete from deleted_registry_providers where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from registry_providers where organization = ${stream}`,
      sql`delete from deleted_registry_providers where organization = ${stream}`,
    ],
  },
};

export const registryProviderVersions: Projection<RegistryProviderVersionEvent | OrganizationDeleted> = {
  name: 'registry_provider_versions',
  version: 1,
  tables: ['registry_provider_versions'],
  on: {
    RegistryProviderVersionCreated: ({ provider, version, keyId, protocols }, { stream, organization, time }) => sql`
      insert into registry_provider_versions
        (id, provider, organization, version, precedence, key_id, protocols, created_at, updated_at)
      values (${stream}, ${provider}, ${organization}, ${version}, ${stripBuildMetadata(version)}, ${keyId},
              ${sql.json(protocols)}::jsonb, ${time}, ${time})`,
    RegistryProviderShasumsUploaded: ({ size, sha256 }, { stream, time }) => sql`
      update registry_provider_versions set shasums = ${sql.json({ size, sha256 })}::jsonb, updated_at = ${time}
       where id = ${stream}`,
    RegistryProviderSignatureUploaded: ({ size, sha256 }, { stream, time }) => sql`
      update registry_provider_versions
         set signature = ${sql.json({ size, sha256, verified: false })}::jsonb, updated_at = ${time}
       where id = ${stream}`,
    RegistryProviderSignatureVerified: (_, { stream, time }) => sql`
      update registry_provider_versions
         set signature = signature || '{"verified": true}'::jsonb, updated_at = ${time} where id = ${stream}`,
    RegistryProviderPlatformCreated: (_, { stream, time }) => touch(stream, time),
    RegistryProviderBinaryUploaded: (_, { stream, time }) => touch(stream, time),
    RegistryProviderPlatformDeleted: (_, { stream, time }) => touch(stream, time),
    RegistryProviderVersionPublished: (_, { stream, time }) => sql`
      update registry_provider_versions set published_at = ${time}, updated_at = ${time} where id = ${stream}`,
    RegistryProviderVersionDeleted: (_, { stream }) => sql`delete from registry_provider_versions where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from registry_provider_versions where organization = ${stream}`,
  },
};

const touch = (version: string, time: string) =>
  sql`update registry_provider_versions set updated_at = ${time} where id = ${version}`;

type PlatformEvent = Extract<
  RegistryProviderVersionEvent,
  {
    type: 'RegistryProviderPlatformCreated' | 'RegistryProviderBinaryUploaded' | 'RegistryProviderPlatformDeleted';
  }
>;

export const registryProviderPlatforms: Projection<PlatformEvent | OrganizationDeleted> = {
  name: 'registry_provider_platforms',
  version: 1,
  tables: ['registry_provider_platforms'],
  on: {
    RegistryProviderPlatformCreated: ({ platform, os, arch, filename, shasum }, { stream, organization }) => sql`
      insert into registry_provider_platforms (id, version, organization, os, arch, filename, shasum)
      values (${platform}, ${stream}, ${organization}, ${os}, ${arch}, ${filename}, ${shasum})`,
    RegistryProviderBinaryUploaded: ({ platform, size }) =>
      sql`update registry_provider_platforms set size = ${size} where id = ${platform}`,
    RegistryProviderPlatformDeleted: ({ platform }) =>
      sql`delete from registry_provider_platforms where id = ${platform}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from registry_provider_platforms where organization = ${stream}`,
  },
};

export const gpgKeys: Projection<GpgKeyEvent | OrganizationDeleted> = {
  name: 'gpg_keys',
  version: 1,
  tables: ['gpg_keys'],
  on: {
    GpgKeyAdded: ({ keyId, asciiArmor }, { stream, organization, time }) => sql`
      insert into gpg_keys (id, organization, key_id, ascii_armor, created_at, updated_at)
      values (${stream}, ${organization}, ${keyId}, ${asciiArmor}, ${time}, ${time})`,
    GpgKeyRenewed: ({ asciiArmor }, { stream, time }) => sql`
      update gpg_keys set ascii_armor = ${asciiArmor}, updated_at = ${time} where id = ${stream}`,
    GpgKeyRemoved: (_, { stream }) => sql`delete from gpg_keys where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from gpg_keys where organization = ${stream}`,
  },
};

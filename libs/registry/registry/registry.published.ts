import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument, type Resource } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderGpgKey } from './gpg-keys/gpg-keys.document.js';
import { selectGpgKeysByIds, type GpgKeyRow } from './gpg-keys/gpg-keys.queries.js';
import { renderRegistryProviderPlatform } from './platforms/registry-provider-platforms.document.js';
import {
  selectPlatformsByIds,
  type RegistryProviderPlatformRow,
} from './platforms/registry-provider-platforms.queries.js';
import { renderRegistryProvider } from './providers/registry-providers.document.js';
import { selectShownProvidersByIds, type RegistryProviderRow } from './providers/registry-providers.queries.js';
import type { FileLinks } from './release-files/release.links.js';
import { renderRegistryProviderVersion } from './versions/registry-provider-versions.document.js';
import { selectVersionsByIds, type RegistryProviderVersionRow } from './versions/registry-provider-versions.queries.js';

const TOPIC = 'registry.state';

/** Links to files replace the permission, so documents for topics have none. */
const NO_LINKS: FileLinks = { upload: () => '', download: () => '' };

const withoutFileLinks = (resource: Resource): Resource => ({
  ...resource,
  links: { self: resource.links?.['self'] ?? null },
});

const inOrganization =
  (
    table: 'registry_providers' | 'registry_provider_versions' | 'registry_provider_platforms' | 'gpg_keys',
  ): PublishedResource['selectKeys'] =>
  (scope) =>
    'organization' in scope
      ? sql`select id as key from ${sql.raw(table)} where organization = ${scope.organization}`
      : sql`select id as key from ${sql.raw(table)} where false`;

const publishedProviders: PublishedResource = {
  type: 'registry-providers',
  topic: TOPIC,
  description: 'Providers: `GET /api/v2/organizations/:name/registry-providers/…`.',
  schemaVersion: 1,
  tables: ['registry_providers', 'registry_provider_versions', 'organizations'],
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ provider }) => (provider === null ? { in: 'organization' } : { in: 'keys', keys: [provider] }),
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<RegistryProviderRow>(selectShownProvidersByIds(keys), (rows) =>
      rows.map((row) => ({ key: row.id, document: renderDocument(renderRegistryProvider(row, owner)) })),
    ),
  selectKeys: inOrganization('registry_providers'),
};

const isVersionEvent = (type: string): boolean =>
  /^RegistryProvider(?!Created|TagsChanged|Deleted|Recovered|Purged)/.test(type);

const publishedVersions: PublishedResource = {
  type: 'registry-provider-versions',
  topic: TOPIC,
  description: 'Versions of private providers, without links to their files.',
  schemaVersion: 1,
  tables: [
    'registry_providers',
    'registry_provider_versions',
    'registry_provider_platforms',
    'gpg_keys',
    'organizations',
  ],
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ type, stream }) => (isVersionEvent(type) ? { in: 'keys', keys: [stream] } : { in: 'organization' }),
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<RegistryProviderVersionRow>(selectVersionsByIds(keys), (rows) =>
      rows.map((row) => ({
        key: row.id,
        document: renderDocument(withoutFileLinks(renderRegistryProviderVersion(row, owner, NO_LINKS))),
      })),
    ),
  selectKeys: inOrganization('registry_provider_versions'),
};

const publishedPlatforms: PublishedResource = {
  type: 'registry-provider-platforms',
  topic: TOPIC,
  description: 'Platforms of versions, without links to their files.',
  schemaVersion: 1,
  tables: ['registry_providers', 'registry_provider_versions', 'registry_provider_platforms', 'organizations'],
  alsoChangedBy: [],
  streamColumn: 'versionId',
  findAffected: ({ type, platform }) => {
    if (platform !== null) return { in: 'keys', keys: [platform] };
    // Other events of a version change no document of a platform.
    const isOfVersion = isVersionEvent(type) && type !== 'RegistryProviderVersionDeleted';
    return isOfVersion ? { in: 'keys', keys: [] } : { in: 'organization' };
  },
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<RegistryProviderPlatformRow>(selectPlatformsByIds(keys), (rows) =>
      rows.map((row) => ({
        key: row.id,
        document: renderDocument(withoutFileLinks(renderRegistryProviderPlatform(row, owner, NO_LINKS))),
      })),
    ),
  selectKeys: inOrganization('registry_provider_platforms'),
};

const publishedGpgKeys: PublishedResource = {
  type: 'gpg-keys',
  topic: TOPIC,
  description: 'Public GPG keys: `GET /api/registry/private/v2/gpg-keys/:namespace/:key_id`.',
  schemaVersion: 1,
  tables: ['gpg_keys', 'organizations'],
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ type, stream }) =>
    type.startsWith('GpgKey') ? { in: 'keys', keys: [stream] } : { in: 'organization' },
  select: (keys: Sql) =>
    defineKeyedDocuments<GpgKeyRow>(selectGpgKeysByIds(keys), (rows) =>
      Promise.all(rows.map(async (row) => ({ key: row.id, document: renderDocument(await renderGpgKey(row)) }))),
    ),
  selectKeys: inOrganization('gpg_keys'),
};

/** The latest documents of the registry, for its state topic. */
export const publishedRegistry: readonly PublishedResource[] = [
  publishedProviders,
  publishedVersions,
  publishedPlatforms,
  publishedGpgKeys,
];

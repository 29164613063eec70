import { z } from 'zod';
import { defineEvents, type EventKinds } from '#platform/kernel';
import { inOrganization, onResource } from '#api/access/rules';
import { formatChecksumsName, formatSignatureName, PROTOCOLS } from '#registry/provider-release';
import type { GpgKeyEvent } from './gpg-keys/gpg-key.js';
import type { ProviderNames, RegistryProviderEvent } from './providers/registry-provider.js';
import type { RegistryProviderVersionEvent } from './versions/registry-provider-version.js';

const topic = 'registry';
const tags = z.array(z.strictObject({ key: z.string(), value: z.string().nullable() }));
const names = z.strictObject({ name: z.string(), namespace: z.string().nullable() }) satisfies z.ZodType<ProviderNames>;
/** Version 1 had private providers only. */
const NAMES_UPCAST = { 1: [{ add: { namespace: null } }] };
const of = { name: z.string(), version: z.string() };
const file = { size: z.number(), sha256: z.string() };
const facts = { platform: z.string(), os: z.string(), arch: z.string(), filename: z.string(), shasum: z.string() };
const protocols = z.array(z.enum(PROTOCOLS));

type VersionData = { readonly name: string; readonly version: string };
type PlatformData = VersionData & {
  readonly os: string;
  readonly arch: string;
  readonly filename: string;
  readonly shasum: string;
};
type FileData = VersionData & { readonly size: number; readonly sha256: string };

/** Private providers keep the form of earlier versions, so that a rebuilt trail equals the original one. */
const metaOfProvider = ({ name, namespace }: ProviderNames) =>
  namespace === null ? { name } : { name, namespace, registry_name: 'public' };
const metaOfVersion = ({ name, version }: VersionData) => ({ provider: name, version });
const metaOfPlatform = ({ os, arch, filename, shasum, ...of }: PlatformData) => ({
  ...metaOfVersion(of),
  os,
  arch,
  filename,
  shasum,
});
const metaOfFile =
  (nameOf: (release: VersionData) => string) =>
  ({ size, sha256, name, version }: FileData) => ({
    ...metaOfVersion({ name, version }),
    filename: nameOf({ name, version }),
    size,
    sha256,
  });
const getPlatformId = ({ platform }: { readonly platform: string }): string => platform;

const platform = onResource(
  'registry-provider-platforms',
  { in: 'organization', permission: 'read-providers' },
  { field: 'platform' },
);

/** The events of the provider registry. */
export const registryEvents = {
  ...defineEvents(
    {
      topic,
      stream: 'prov',
      audited: 'registry_provider',
      live: inOrganization('registry-providers', 'read-providers'),
    },
    {
      RegistryProviderCreated: {
        schemaVersion: 2,
        upcast: NAMES_UPCAST,
        schema: names,
        audit: { action: 'create', meta: metaOfProvider },
        live: 'created',
      },
      RegistryProviderTagsChanged: {
        schema: names.extend({ from: tags, to: tags }),
        audit: {
          action: 'update',
          meta: ({ from, to, ...provider }) => ({ ...metaOfProvider(provider), change: 'tag_bindings', from, to }),
        },
        live: 'changed',
      },
      RegistryProviderDeleted: {
        schemaVersion: 3,
        // Deletions of version 2 were final.
        upcast: { ...NAMES_UPCAST, 2: [{ add: { recoverableUntil: null } }] },
        schema: names.extend({ recoverableUntil: z.string().nullable() }),
        audit: {
          action: 'destroy',
          meta: ({ recoverableUntil, ...provider }) => ({
            ...metaOfProvider(provider),
            ...(recoverableUntil === null ? {} : { recoverable_until: recoverableUntil }),
          }),
        },
        live: 'deleted',
      },
      RegistryProviderRecovered: {
        schema: names,
        audit: { action: 'recover', meta: metaOfProvider },
        live: 'created',
      },
      RegistryProviderPurged: {
        schema: names.extend({ expired: z.boolean() }),
        audit: { action: 'purge', meta: ({ expired, ...provider }) => ({ ...metaOfProvider(provider), expired }) },
        live: { unsent: 'the message about the deletion has said that the provider is gone' },
      },
    },
  ),
  ...defineEvents(
    {
      topic,
      stream: 'provver',
      audited: 'registry_provider_version',
      live: inOrganization('registry-provider-versions', 'read-providers'),
    },
    {
      RegistryProviderVersionCreated: {
        schema: z.strictObject({ ...of, provider: z.string(), keyId: z.string(), protocols }),
        audit: {
          action: 'create',
          meta: ({ keyId, protocols: supported, ...version }) => ({
            ...metaOfVersion(version),
            key_id: keyId,
            protocols: supported,
          }),
        },
        live: 'created',
        ids: { refersTo: { provider: ['prov'] } },
      },
      RegistryProviderShasumsUploaded: {
        schema: z.strictObject({ ...of, ...file, listed: z.record(z.string(), z.string()) }),
        audit: { action: 'upload', meta: metaOfFile(formatChecksumsName) },
        live: 'changed',
      },
      RegistryProviderSignatureUploaded: {
        schema: z.strictObject({ ...of, ...file }),
        audit: { action: 'upload', meta: metaOfFile(formatSignatureName) },
        live: 'changed',
      },
      RegistryProviderSignatureVerified: {
        schema: z.strictObject({ ...of, keyId: z.string(), sha256: z.string() }),
        audit: { unaudited: 'belongs to the upload, which has an entry' },
        live: 'changed',
      },
      RegistryProviderPlatformCreated: {
        schema: z.strictObject({ ...of, ...facts }),
        audit: { resource: 'registry_provider_platform', action: 'create', id: getPlatformId, meta: metaOfPlatform },
        live: platform('created'),
        ids: { creates: { platform: 'provpltfrm' } },
      },
      RegistryProviderBinaryUploaded: {
        schema: z.strictObject({ ...of, ...facts, size: z.number() }),
        audit: {
          resource: 'registry_provider_platform',
          action: 'upload',
          id: getPlatformId,
          meta: ({ size, ...platform }) => ({ ...metaOfPlatform(platform), size }),
        },
        live: platform('changed'),
        ids: { refersTo: { platform: ['provpltfrm'] } },
      },
      RegistryProviderPlatformDeleted: {
        schema: z.strictObject({ ...of, ...facts }),
        audit: { resource: 'registry_provider_platform', action: 'destroy', id: getPlatformId, meta: metaOfPlatform },
        live: platform('deleted'),
        ids: { refersTo: { platform: ['provpltfrm'] } },
      },
      RegistryProviderVersionPublished: {
        schema: z.strictObject({ ...of, protocols, platforms: z.array(z.string()) }),
        audit: { action: 'publish', meta: ({ platforms, ...version }) => ({ ...metaOfVersion(version), platforms }) },
        live: 'changed',
      },
      RegistryProviderVersionDeleted: {
        schema: z.strictObject(of),
        audit: { action: 'destroy', meta: metaOfVersion },
        live: 'deleted',
      },
    },
  ),
  ...defineEvents(
    { topic, stream: 'gpgkey', audited: 'gpg_key', live: inOrganization('gpg-keys', 'read-providers') },
    {
      GpgKeyAdded: {
        schema: z.strictObject({ keyId: z.string(), asciiArmor: z.string() }),
        audit: { action: 'create', meta: ({ keyId }) => ({ key_id: keyId }) },
        live: 'created',
      },
      GpgKeyRenewed: {
        schema: z.strictObject({ keyId: z.string(), asciiArmor: z.string() }),
        audit: { action: 'update', meta: ({ keyId }) => ({ key_id: keyId }) },
        live: 'changed',
      },
      GpgKeyRemoved: {
        schema: z.strictObject({ keyId: z.string() }),
        audit: { action: 'destroy', meta: ({ keyId }) => ({ key_id: keyId }) },
        live: 'deleted',
      },
    },
  ),
} satisfies EventKinds<RegistryProviderEvent | RegistryProviderVersionEvent | GpgKeyEvent>;

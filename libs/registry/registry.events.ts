import { z } from 'zod';
import type { EventKinds } from '#kernel';
import { formatChecksumsName, formatSignatureName, PROTOCOLS } from '#provider-release';
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

/**
 * Schemas, topics and audit rows of the provider registry. The contract's catalogue names create and destroy (§6.1).
 */
export const registryEvents: EventKinds<RegistryProviderEvent | RegistryProviderVersionEvent | GpgKeyEvent> = {
  RegistryProviderCreated: {
    schemaVersion: 2,
    upcast: NAMES_UPCAST,
    topic,
    schema: names,
    audit: { resource: 'registry_provider', action: 'create', meta: metaOfProvider },
  },
  RegistryProviderTagsChanged: {
    schemaVersion: 1,
    topic,
    schema: names.extend({ from: tags, to: tags }),
    audit: {
      resource: 'registry_provider',
      action: 'update',
      meta: ({ from, to, ...provider }) => ({ ...metaOfProvider(provider), change: 'tag_bindings', from, to }),
    },
  },
  RegistryProviderDeleted: {
    schemaVersion: 2,
    upcast: NAMES_UPCAST,
    topic,
    schema: names,
    audit: { resource: 'registry_provider', action: 'destroy', meta: metaOfProvider },
  },
  RegistryProviderVersionCreated: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, provider: z.string(), keyId: z.string(), protocols }),
    audit: {
      resource: 'registry_provider_version',
      action: 'create',
      meta: ({ keyId, protocols: supported, ...version }) => ({
        ...metaOfVersion(version),
        key_id: keyId,
        protocols: supported,
      }),
    },
  },
  RegistryProviderShasumsUploaded: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, ...file, listed: z.record(z.string(), z.string()) }),
    audit: { resource: 'registry_provider_version', action: 'upload', meta: metaOfFile(formatChecksumsName) },
  },
  RegistryProviderSignatureUploaded: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, ...file }),
    audit: { resource: 'registry_provider_version', action: 'upload', meta: metaOfFile(formatSignatureName) },
  },
  RegistryProviderSignatureVerified: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, keyId: z.string(), sha256: z.string() }),
    audit: { unaudited: 'belongs to the upload, which has an entry' },
  },
  RegistryProviderPlatformCreated: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, ...facts }),
    audit: { resource: 'registry_provider_platform', action: 'create', id: getPlatformId, meta: metaOfPlatform },
  },
  RegistryProviderBinaryUploaded: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, ...facts, size: z.number() }),
    audit: {
      resource: 'registry_provider_platform',
      action: 'upload',
      id: getPlatformId,
      meta: ({ size, ...platform }) => ({ ...metaOfPlatform(platform), size }),
    },
  },
  RegistryProviderPlatformDeleted: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, ...facts }),
    audit: { resource: 'registry_provider_platform', action: 'destroy', id: getPlatformId, meta: metaOfPlatform },
  },
  RegistryProviderVersionPublished: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ ...of, protocols, platforms: z.array(z.string()) }),
    audit: {
      resource: 'registry_provider_version',
      action: 'publish',
      meta: ({ platforms, ...version }) => ({ ...metaOfVersion(version), platforms }),
    },
  },
  RegistryProviderVersionDeleted: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject(of),
    audit: { resource: 'registry_provider_version', action: 'destroy', meta: metaOfVersion },
  },
  GpgKeyAdded: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ keyId: z.string(), asciiArmor: z.string() }),
    audit: { resource: 'gpg_key', action: 'create', meta: ({ keyId }) => ({ key_id: keyId }) },
  },
  GpgKeyRenewed: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ keyId: z.string(), asciiArmor: z.string() }),
    audit: { resource: 'gpg_key', action: 'update', meta: ({ keyId }) => ({ key_id: keyId }) },
  },
  GpgKeyRemoved: {
    schemaVersion: 1,
    topic,
    schema: z.strictObject({ keyId: z.string() }),
    audit: { resource: 'gpg_key', action: 'destroy', meta: ({ keyId }) => ({ key_id: keyId }) },
  },
};

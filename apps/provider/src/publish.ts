import { formatChecksumsName, formatSignatureName, type Protocol } from '#provider-release';
import { listDifferences, type PublishedState } from './differences.js';
import { findLink, type FileLink, type PlatformResource, type VersionResource } from './documents.js';
import { forEachConcurrently } from './concurrency.js';
import { createRefusedError } from './command-error.js';
import type { PreparedRelease } from './prepare.js';
import type { PublishProgress, UploadProgress } from './progress.js';
import { verifyInstallable } from './installation-check.js';
import type { ProviderRegistryClient, RegistryUpload } from './registry-client.js';
import type { PlatformArchive } from './release-folder.js';
import { findReleaseKey } from './release-key.js';

const MAX_CONCURRENT_UPLOADS = 4;

export type PublishResult = {
  /** As configurations name the provider. */
  readonly source: string;
  readonly version: string;
  readonly keyId: string;
  readonly protocols: readonly Protocol[];
  readonly platforms: readonly {
    readonly os: string;
    readonly arch: string;
    readonly filename: string;
    readonly shasum: string;
  }[];
  /** Files that were sent now; the others were there. */
  readonly uploaded: readonly string[];
};

export type PublishTask = {
  readonly release: PreparedRelease;
  readonly registry: ProviderRegistryClient;
  readonly keyId?: string | undefined;
  readonly progress: PublishProgress;
  readonly now: () => Date;
};

const findVersion = async (registry: ProviderRegistryClient, release: PreparedRelease): Promise<PublishedState> => {
  const found = await registry.version(release.version);
  if (!found) return { version: null, platforms: [], checksums: null };
  const platforms = await registry.platforms(release.version);
  const link = findLink(found, 'shasums-download');
  return {
    version: found,
    platforms,
    checksums: link === undefined ? null : await registry.download(formatChecksumsName(release), link),
  };
};

const requireUploadLink = (
  found: VersionResource | PlatformResource | null,
  link: FileLink,
  filename: string,
): string => {
  const address = found ? findLink(found, link) : undefined;
  if (address === undefined)
    throw createRefusedError(`${filename}: the server tells no address to upload it to; the token may not`);
  return address;
};

/** A file of the version itself. Null where it is there. */
const toVersionUpload = (
  { registry, release }: PublishTask,
  found: VersionResource,
  kind: 'shasums' | 'shasums-sig',
): RegistryUpload | null => {
  const [filename, content] =
    kind === 'shasums'
      ? [formatChecksumsName(release), release.checksums]
      : [formatSignatureName(release), Buffer.from(release.signature)];
  const isThere = (of: VersionResource | null): boolean => of?.attributes[`${kind}-uploaded`] ?? false;
  if (isThere(found)) return null;
  return {
    filename,
    content: Uint8Array.from(content),
    link: requireUploadLink(found, `${kind}-upload`, filename),
    refreshUrl: async () => {
      const now = await registry.version(release.version);
      return isThere(now) ? null : requireUploadLink(now, `${kind}-upload`, filename);
    },
  };
};

/** The zip of a platform. Null where it is there. */
const toPlatformUpload = (
  { registry, release: { version } }: PublishTask,
  { path, filename, size, os, arch }: PlatformArchive,
  found: PlatformResource,
  uploads: UploadProgress,
): RegistryUpload | null => {
  const link = 'provider-binary-upload';
  if (found.attributes['provider-binary-uploaded']) return null;
  return {
    filename,
    content: { path, size, sent: (bytes) => uploads.sent(filename, bytes) },
    link: requireUploadLink(found, link, filename),
    refreshUrl: async () => {
      const now = await registry.platform(version, { os, arch });
      return now?.attributes['provider-binary-uploaded'] ? null : requireUploadLink(now, link, filename);
    },
  };
};

const requireSameRelease = (found: PublishedState, release: PreparedRelease, keyId: string): void => {
  const differences = listDifferences(found, release, keyId);
  if (differences.length === 0) return;
  throw createRefusedError(
    `Version ${release.version} is there already, and is not this one:`,
    ...differences.map((difference) => `  ${difference}`),
    'What is published is not changed: give the release another version, or delete the one that is there',
  );
};

/** Makes what the version stands on, and the version. */
const createVersion = async (
  publication: PublishTask,
  found: PublishedState,
): Promise<{ version: VersionResource; keyId: string }> => {
  const { registry, release, progress, now } = publication;
  const key = await findReleaseKey(registry, release, publication.keyId, now);
  requireSameRelease(found, release, key.keyId);
  if (!key.isRegistered) {
    await registry.addKey(key.keyId, key.armor);
    progress.print(`Added the GPG key ${key.keyId} to ${registry.organization}`);
  }
  if (found.version) return { version: found.version, keyId: key.keyId };
  if (!(await registry.hasProvider())) {
    await registry.makeProvider();
    progress.print(`Made the provider ${registry.organization}/${registry.name}`);
  }
  const version = await registry.makeVersion(release.version, key.keyId, release.protocols);
  progress.print(`Made version ${release.version}, to be signed by ${key.keyId}`);
  return { version, keyId: key.keyId };
};

/** Uploads the files that are missing, the signature last, and returns their names. */
const uploadFiles = async (
  publication: PublishTask,
  version: VersionResource,
  found: PublishedState,
): Promise<readonly string[]> => {
  const { release, registry, progress } = publication;
  const { archives } = release;
  const uploaded: string[] = [];
  const uploads = progress.uploads(archives);
  const send = async (upload: RegistryUpload | null): Promise<void> => {
    if (!upload) return;
    await registry.upload(upload);
    uploaded.push(upload.filename);
  };
  try {
    await send(toVersionUpload(publication, version, 'shasums'));
    await forEachConcurrently(archives, MAX_CONCURRENT_UPLOADS, async (archive) => {
      const its = found.platforms.find(({ attributes: { os, arch } }) => os === archive.os && arch === archive.arch);
      const facts = { ...archive, shasum: archive.sha256 };
      const upload = toPlatformUpload(
        publication,
        archive,
        its ?? (await registry.makePlatform(release.version, facts)),
        uploads,
      );
      await send(upload);
      uploads.done(archive.filename, upload === null);
    });
    await send(toVersionUpload(publication, version, 'shasums-sig'));
  } finally {
    uploads.end();
  }
  return uploaded;
};

/**
 * Makes of a release in a folder a version that clients can install. What is there already is left as it is, so the same
 * command, run again after a cut, goes on where it ended; a version that is there and differs is refused before anything
 * is sent. The signature comes last: until then clients are offered nothing of the version.
 */
export const publishRelease = async (publication: PublishTask): Promise<PublishResult> => {
  const { release, registry, now } = publication;
  const found = await findVersion(registry, release);
  const { version, keyId } = await createVersion(publication, found);
  const uploaded = await uploadFiles(publication, version, found);
  await verifyInstallable(registry, release, keyId, now);
  return {
    source: registry.source,
    version: release.version,
    keyId,
    protocols: release.protocols,
    platforms: release.archives.map(({ os, arch, filename, sha256: shasum }) => ({ os, arch, filename, shasum })),
    uploaded: uploaded.toSorted(),
  };
};

import { formatChecksumsName, formatSignatureName, readAcceptedKey, type Protocol } from '#registry/provider-release';
import { listDifferences, type PublishedState } from './differences.js';
import { findLink, type FileLink, type PlatformResource, type VersionResource } from './documents.js';
import { forEachConcurrently } from './concurrency.js';
import { createRefusedError } from './command-error.js';
import type { PreparedRelease } from './prepare.js';
import type { PublishProgress, UploadProgress } from './progress.js';
import { verifyInstallable } from './installation-check.js';
import type { ProviderRegistryClient, RegistryUpload } from './registry-client.js';
import type { PlatformArchive } from './release-folder.js';
import { findReleaseKey, type ReleaseKey } from './release-key.js';

const MAX_CONCURRENT_UPLOADS = 4;

export type PublishResult = {
  /** Source address of the provider in configurations. */
  readonly source: string;
  readonly version: string;
  readonly keyId: string;
  /** The first Terraform version that reads the key; null if all versions do. */
  readonly minimumTerraformVersion: string | null;
  readonly protocols: readonly Protocol[];
  readonly platforms: readonly {
    readonly os: string;
    readonly arch: string;
    readonly filename: string;
    readonly shasum: string;
  }[];
  /** Files that were uploaded now. The server had the others already. */
  readonly uploaded: readonly string[];
};

type PublishTask = {
  readonly release: PreparedRelease;
  readonly registry: ProviderRegistryClient;
  readonly keyId?: string | undefined;
  readonly progress: PublishProgress;
  readonly now: () => Date;
};

const findVersion = async (registry: ProviderRegistryClient, release: PreparedRelease): Promise<PublishedState> => {
  const versionResource = await registry.version(release.version);
  if (!versionResource) return { version: null, platforms: [], checksums: null };
  const platforms = await registry.platforms(release.version);
  const link = findLink(versionResource, 'shasums-download');
  return {
    version: versionResource,
    platforms,
    checksums: link === undefined ? null : await registry.download(formatChecksumsName(release), link),
  };
};

const requireUploadLink = (
  resource: VersionResource | PlatformResource | null,
  link: FileLink,
  filename: string,
): string => {
  const address = resource ? findLink(resource, link) : undefined;
  if (address === undefined)
    throw createRefusedError(`${filename}: the server returns no upload link, because the token lacks the permission`);
  return address;
};

/** Returns the upload of a file of the version itself. Null if the server has it already. */
const toVersionUpload = (
  { registry, release }: PublishTask,
  versionResource: VersionResource,
  kind: 'shasums' | 'shasums-sig',
): RegistryUpload | null => {
  const [filename, content] =
    kind === 'shasums'
      ? [formatChecksumsName(release), release.checksums]
      : [formatSignatureName(release), Buffer.from(release.signature)];
  const isThere = (of: VersionResource | null): boolean => of?.attributes[`${kind}-uploaded`] ?? false;
  if (isThere(versionResource)) return null;
  return {
    filename,
    content: Uint8Array.from(content),
    link: requireUploadLink(versionResource, `${kind}-upload`, filename),
    refreshUrl: async () => {
      const current = await registry.version(release.version);
      return isThere(current) ? null : requireUploadLink(current, `${kind}-upload`, filename);
    },
  };
};

/** Returns the upload of a platform's zip. Null if the server has it already. */
const toPlatformUpload = (
  { registry, release: { version } }: PublishTask,
  { path, filename, size, os, arch }: PlatformArchive,
  platform: PlatformResource,
  uploads: UploadProgress,
): RegistryUpload | null => {
  const link = 'provider-binary-upload';
  if (platform.attributes['provider-binary-uploaded']) return null;
  return {
    filename,
    content: { path, size, sent: (bytes) => uploads.sent(filename, bytes) },
    link: requireUploadLink(platform, link, filename),
    refreshUrl: async () => {
      const current = await registry.platform(version, { os, arch });
      return current?.attributes['provider-binary-uploaded'] ? null : requireUploadLink(current, link, filename);
    },
  };
};

const requireSameRelease = (published: PublishedState, release: PreparedRelease, keyId: string): void => {
  const differences = listDifferences(published, release, keyId);
  if (differences.length === 0) return;
  throw createRefusedError(
    `Version ${release.version} exists already, and differs from this release:`,
    ...differences.map((difference) => `  ${difference}`),
    'A published version is never changed. Choose another version, or delete the existing one',
  );
};

/** Creates the version, and before it the key and the provider if they are missing. */
const createVersion = async (
  publication: PublishTask,
  published: PublishedState,
): Promise<{ version: VersionResource; key: ReleaseKey }> => {
  const { registry, release, progress, now } = publication;
  const key = await findReleaseKey(registry, release, publication.keyId, now);
  requireSameRelease(published, release, key.keyId);
  if (!key.isRegistered) {
    await registry.addKey(key.keyId, key.armor);
    const { isRegistered } = await findReleaseKey(registry, release, publication.keyId, now);
    if (!isRegistered) {
      throw createRefusedError(
        `${registry.organization} has an older copy of the GPG key ${key.keyId}, and does not replace it. Delete the copy`,
      );
    }
    progress.print(`Added the GPG key ${key.keyId} to ${registry.organization}`);
  }
  if (published.version) return { version: published.version, key };
  if (!(await registry.hasProvider())) {
    await registry.makeProvider();
    progress.print(`Created the provider ${registry.organization}/${registry.name}`);
  }
  const version = await registry.makeVersion(release.version, key.keyId, release.protocols);
  progress.print(`Created version ${release.version} for the GPG key ${key.keyId}`);
  return { version, key };
};

/** Uploads the files that are missing, the signature last, and returns their names. */
const uploadFiles = async (
  publication: PublishTask,
  version: VersionResource,
  published: PublishedState,
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
      const its = published.platforms.find(
        ({ attributes: { os, arch } }) => os === archive.os && arch === archive.arch,
      );
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
 * Publishes a release folder as a version that clients can install. It skips what the server already has, so the same
 * command completes an interrupted publication. It refuses a different version of the same number before it sends
 * anything. It uploads the signature last: until then the server lists nothing of the version.
 */
export const publishRelease = async (publication: PublishTask): Promise<PublishResult> => {
  const { release, registry, now } = publication;
  const published = await findVersion(registry, release);
  const { version, key } = await createVersion(publication, published);
  const { keyId } = key;
  const uploaded = await uploadFiles(publication, version, published);
  await verifyInstallable(registry, release, keyId, now);
  const { firstTerraform, algorithm } = await readAcceptedKey(key.armor);
  if (firstTerraform !== null) {
    publication.progress.print(
      `The GPG key ${keyId} is of the type ${algorithm}: Terraform before ${firstTerraform} cannot install the provider`,
    );
  }
  return {
    source: registry.source,
    version: release.version,
    keyId,
    minimumTerraformVersion: firstTerraform,
    protocols: release.protocols,
    platforms: release.archives.map(({ os, arch, filename, sha256: shasum }) => ({ os, arch, filename, shasum })),
    uploaded: uploaded.toSorted(),
  };
};

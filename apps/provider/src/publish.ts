import { nameOfChecksums, nameOfSignature, type Protocol } from '#provider-release';
import { differencesBetween, type Found } from './differences.js';
import { linkIn, type FileLink, type PlatformFound, type VersionFound } from './documents.js';
import { eachOf } from './each-of.js';
import { refused } from './failure.js';
import type { Release } from './prepare.js';
import type { Progress, Uploads } from './progress.js';
import { prove } from './prove.js';
import type { Registry, Upload } from './registry.js';
import type { Archive } from './release-folder.js';
import { keyOf } from './release-key.js';

const AT_ONCE = 4;

export type Published = {
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

export type Publication = {
  readonly release: Release;
  readonly registry: Registry;
  readonly keyId?: string | undefined;
  readonly progress: Progress;
  readonly now: () => Date;
};

const findVersion = async (registry: Registry, release: Release): Promise<Found> => {
  const found = await registry.version(release.version);
  if (!found) return { version: null, platforms: [], checksums: null };
  const platforms = await registry.platforms(release.version);
  const link = linkIn(found, 'shasums-download');
  return {
    version: found,
    platforms,
    checksums: link === undefined ? null : await registry.download(nameOfChecksums(release), link),
  };
};

const linkFor = (found: VersionFound | PlatformFound | null, link: FileLink, filename: string): string => {
  const address = found ? linkIn(found, link) : undefined;
  if (address === undefined)
    throw refused(`${filename}: the server tells no address to upload it to; the token may not`);
  return address;
};

/** A file of the version itself. Null where it is there. */
const fileOfVersion = (
  { registry, release }: Publication,
  found: VersionFound,
  kind: 'shasums' | 'shasums-sig',
): Upload | null => {
  const [filename, content] =
    kind === 'shasums'
      ? [nameOfChecksums(release), release.checksums]
      : [nameOfSignature(release), Buffer.from(release.signature)];
  const isThere = (of: VersionFound | null): boolean => of?.attributes[`${kind}-uploaded`] ?? false;
  if (isThere(found)) return null;
  return {
    filename,
    content: Uint8Array.from(content),
    link: linkFor(found, `${kind}-upload`, filename),
    again: async () => {
      const now = await registry.version(release.version);
      return isThere(now) ? null : linkFor(now, `${kind}-upload`, filename);
    },
  };
};

/** The zip of a platform. Null where it is there. */
const fileOfPlatform = (
  { registry, release: { version } }: Publication,
  { path, filename, size, os, arch }: Archive,
  found: PlatformFound,
  uploads: Uploads,
): Upload | null => {
  const link = 'provider-binary-upload';
  if (found.attributes['provider-binary-uploaded']) return null;
  return {
    filename,
    content: { path, size, sent: (bytes) => uploads.sent(filename, bytes) },
    link: linkFor(found, link, filename),
    again: async () => {
      const now = await registry.platform(version, { os, arch });
      return now?.attributes['provider-binary-uploaded'] ? null : linkFor(now, link, filename);
    },
  };
};

const demandSame = (found: Found, release: Release, keyId: string): void => {
  const differences = differencesBetween(found, release, keyId);
  if (differences.length === 0) return;
  throw refused(
    `Version ${release.version} is there already, and is not this one:`,
    ...differences.map((difference) => `  ${difference}`),
    'What is published is not changed: give the release another version, or delete the one that is there',
  );
};

/** Makes what the version stands on, and the version. */
const makeVersion = async (
  publication: Publication,
  found: Found,
): Promise<{ version: VersionFound; keyId: string }> => {
  const { registry, release, progress, now } = publication;
  const key = await keyOf(registry, release, publication.keyId, now);
  demandSame(found, release, key.keyId);
  if (!key.isThere) {
    await registry.addKey(key.keyId, key.armor);
    progress.say(`Added the GPG key ${key.keyId} to ${registry.organization}`);
  }
  if (found.version) return { version: found.version, keyId: key.keyId };
  if (!(await registry.hasProvider())) {
    await registry.makeProvider();
    progress.say(`Made the provider ${registry.organization}/${registry.name}`);
  }
  const version = await registry.makeVersion(release.version, key.keyId, release.protocols);
  progress.say(`Made version ${release.version}, to be signed by ${key.keyId}`);
  return { version, keyId: key.keyId };
};

/**
 * Makes of a release in a folder a version that clients can install. What is there already is left as it is, so the same
 * command, run again after a cut, goes on where it ended; a version that is there and differs is refused before anything
 * is sent. The signature comes last: until then clients are offered nothing of the version.
 */
export const publish = async (publication: Publication): Promise<Published> => {
  const { release, registry, progress, now } = publication;
  const found = await findVersion(registry, release);
  const { version, keyId } = await makeVersion(publication, found);

  const { archives } = release;
  const uploaded: string[] = [];
  const uploads = progress.uploads(archives);
  const send = async (upload: Upload | null): Promise<void> => {
    if (!upload) return;
    await registry.upload(upload);
    uploaded.push(upload.filename);
  };
  try {
    await send(fileOfVersion(publication, version, 'shasums'));
    await eachOf(archives, AT_ONCE, async (archive) => {
      const its = found.platforms.find(({ attributes: { os, arch } }) => os === archive.os && arch === archive.arch);
      const facts = { ...archive, shasum: archive.sha256 };
      const upload = fileOfPlatform(
        publication,
        archive,
        its ?? (await registry.makePlatform(release.version, facts)),
        uploads,
      );
      await send(upload);
      uploads.done(archive.filename, upload === null);
    });
    await send(fileOfVersion(publication, version, 'shasums-sig'));
  } finally {
    uploads.end();
  }
  await prove(registry, release, keyId, now);
  return {
    source: registry.source,
    version: release.version,
    keyId,
    protocols: release.protocols,
    platforms: archives.map(({ os, arch, filename, sha256: shasum }) => ({ os, arch, filename, shasum })),
    uploaded: uploaded.toSorted(),
  };
};

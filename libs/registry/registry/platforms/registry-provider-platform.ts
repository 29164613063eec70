import {
  checkArch,
  checkFilename,
  checkOs,
  checkShasum,
  normalizeShasum,
  formatPlatform,
} from '#registry/provider-release/rules';
import { runAllChecks, unprocessable } from '#platform/kernel';

/**
 * Attributes of a platform of a version. Clients declare the name and the checksum of the zip before they upload it.
 */
export type PlatformAttributes = {
  readonly os: string;
  readonly arch: string;
  readonly filename: string;
  /**
   * SHA-256 of the zip in lower-case hex, as in SHA256SUMS. If a client declared some other text, no zip can match it.
   */
  readonly shasum: string;
};

export type Platform = PlatformAttributes & {
  /** Size of the zip in bytes; null until it is uploaded. */
  readonly size: number | null;
};

export type Platforms = Readonly<Record<string, Platform>>;

export type ListedChecksums = Readonly<Record<string, string>>;

/**
 * Go builds for about 50 platforms. Deleting a version appends an event for each platform, and one append accepts at
 * most 768 KiB.
 */
export const MAX_PLATFORMS = 200;

export const toPlatformAttributes = ({ os, arch, filename, shasum }: PlatformAttributes): PlatformAttributes => ({
  os,
  arch,
  filename,
  shasum,
});

/** Returns the attributes in the form that is stored. Rejects invalid attributes. */
export const checkPlatform = (facts: PlatformAttributes): PlatformAttributes => {
  runAllChecks(
    () => checkOs(facts.os),
    () => checkArch(facts.arch),
    () => checkFilename(facts.filename),
    () => checkShasum(facts.shasum),
  );
  return { ...facts, shasum: normalizeShasum(facts.shasum) };
};

/** Rejects a platform that already exists, a file name that another platform uses, and a platform above the limit. */
export const checkPlatformLimits = ({ os, arch, filename }: PlatformAttributes, platforms: Platforms): void => {
  const others = Object.values(platforms);
  for (const other of others) {
    if (other.os === os && other.arch === arch)
      throw unprocessable(`Platform ${formatPlatform(other)} exists already`, 'os');
    if (other.filename === filename) throw unprocessable('Filename has already been taken', 'filename');
  }
  if (others.length >= MAX_PLATFORMS) throw unprocessable(`A version has at most ${MAX_PLATFORMS} platforms`);
};

/** Rejects a platform that SHA256SUMS does not list, or lists with another checksum. */
export const checkListedChecksum = (
  { filename, shasum }: PlatformAttributes,
  listed: ListedChecksums,
  at?: 'shasum',
): void => {
  const sum = Object.hasOwn(listed, filename) ? listed[filename] : undefined;
  if (sum === undefined) throw unprocessable(`SHA256SUMS does not list ${filename}`, at && 'filename');
  if (sum !== shasum) {
    throw unprocessable(`SHA256SUMS lists ${filename} with checksum ${sum}, its platform has ${shasum}`, at);
  }
};

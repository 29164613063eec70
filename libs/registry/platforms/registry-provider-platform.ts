import {
  checkArch,
  checkFilename,
  checkOs,
  checkShasum,
  normalizeShasum,
  formatPlatform,
} from '#provider-release/rules';
import { runAllChecks, unprocessable } from '#kernel';

/** What one platform of a version is: a zip that is named, and whose checksum is known, before it is uploaded. */
export type PlatformAttributes = {
  readonly os: string;
  readonly arch: string;
  readonly filename: string;
  /** SHA-256 of the zip in lower-case hex, as SHA256SUMS has it; or a text that no zip will ever have for one. */
  readonly shasum: string;
};

export type Platform = PlatformAttributes & {
  /** Bytes of its zip; null until that is here. */
  readonly size: number | null;
};

/** Platforms of a version by their ids. */
export type Platforms = Readonly<Record<string, Platform>>;

/** What SHA256SUMS says: checksum by name of the file. */
export type ListedChecksums = Readonly<Record<string, string>>;

/** Go builds for some fifty. A version is deleted with an event for each, and one append takes no more than 768 KiB. */
export const MAX_PLATFORMS = 200;

export const toPlatformAttributes = ({ os, arch, filename, shasum }: PlatformAttributes): PlatformAttributes => ({
  os,
  arch,
  filename,
  shasum,
});

/** The facts as they are kept. */
export const checkPlatform = (facts: PlatformAttributes): PlatformAttributes => {
  runAllChecks(
    () => checkOs(facts.os),
    () => checkArch(facts.arch),
    () => checkFilename(facts.filename),
    () => checkShasum(facts.shasum),
  );
  return { ...facts, shasum: normalizeShasum(facts.shasum) };
};

/** Refuses a platform that is there already, or a name that another one's zip has, or one platform too many. */
export const checkPlatformLimits = ({ os, arch, filename }: PlatformAttributes, platforms: Platforms): void => {
  const others = Object.values(platforms);
  for (const other of others) {
    if (other.os === os && other.arch === arch)
      throw unprocessable(`Platform ${formatPlatform(other)} exists already`, 'os');
    if (other.filename === filename) throw unprocessable('Filename has already been taken', 'filename');
  }
  if (others.length >= MAX_PLATFORMS) throw unprocessable(`A version has at most ${MAX_PLATFORMS} platforms`);
};

/** Refuses a platform that SHA256SUMS does not speak of, or speaks of with another checksum. */
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

import { z } from 'zod';
import { pickChanged, unprocessable } from '#platform/kernel';

/** An archive with the program for one platform. `sha` is its SHA-256. */
export const toolArchiveSchema = z.strictObject({ url: z.string(), sha: z.string(), os: z.string(), arch: z.string() });
export type ToolArchive = z.infer<typeof toolArchiveSchema>;

/** Documents show archives of the publisher without a checksum. Clients send them back with other changes. */
export type RequestedArchive = Omit<ToolArchive, 'sha'> & { readonly sha: string | null };

/** The members of a request about the archive that `url` and `sha` of a version show. At least one is present. */
export type PartialArchive = { readonly url?: string; readonly sha?: string };

/** The platform of `url` and `sha` of a version without `archs`. */
const DEFAULT_PLATFORM = { os: 'linux', arch: 'amd64' } as const;

/** Returns the archive that `url` and `sha` of a version show. */
export const findDefaultArchive = <T extends Pick<ToolArchive, 'os' | 'arch'>>(archs: readonly T[]): T | undefined =>
  archs.find(({ os, arch }) => os === DEFAULT_PLATFORM.os && arch === DEFAULT_PLATFORM.arch);

const hasChecksum = (archive: RequestedArchive): archive is ToolArchive => archive.sha !== null;

/** Returns the archives that a request sets: none of the site if they are those of the publisher. Refuses others without a checksum. */
export const checkArchives = (
  archs: readonly RequestedArchive[],
  published: readonly RequestedArchive[],
): readonly ToolArchive[] => {
  if (archs.every(hasChecksum)) return archs;
  if (Object.keys(pickChanged({ archs: published }, { archs })).length === 0) return [];
  const index = archs.findIndex((archive) => !hasChecksum(archive));
  throw unprocessable('Sha must be a SHA-256 checksum: 64 hexadecimal digits', `archs/${index}/sha`);
};

/**
 * Returns the archives of a version after a request that names `url`, `sha` or both. A missing one stays as it is, and so do the
 * archives for other platforms.
 */
export const completeArchive = (requested: PartialArchive, present: readonly ToolArchive[]): readonly ToolArchive[] => {
  const current = findDefaultArchive(present);
  const { url, sha } = { ...current, ...requested };
  if (url === undefined) throw unprocessable('Url is missing beside sha', 'url');
  if (sha === undefined) throw unprocessable('Sha is missing beside url', 'sha');
  const completed = { url, sha, ...DEFAULT_PLATFORM };
  return current ? present.map((archive) => (archive === current ? completed : archive)) : [...present, completed];
};

import { z } from 'zod';
import { unprocessable } from '#platform/kernel';

/** An archive with the program for one platform. `sha` is its SHA-256. */
export const toolArchiveSchema = z.strictObject({ url: z.string(), sha: z.string(), os: z.string(), arch: z.string() });
export type ToolArchive = z.infer<typeof toolArchiveSchema>;

/** The members of a request about the archive that `url` and `sha` of a version show. At least one is present. */
export type PartialArchive = { readonly url?: string; readonly sha?: string };

/** The platform of `url` and `sha` of a version without `archs`. */
const DEFAULT_PLATFORM = { os: 'linux', arch: 'amd64' } as const;

/** Returns the archive that `url` and `sha` of a version show. */
export const findDefaultArchive = <T extends Pick<ToolArchive, 'os' | 'arch'>>(archs: readonly T[]): T | undefined =>
  archs.find(({ os, arch }) => os === DEFAULT_PLATFORM.os && arch === DEFAULT_PLATFORM.arch);

/** Returns the archives of a version after a request that names `url`, `sha` or both. A missing one stays as it is. */
export const completeArchive = (requested: PartialArchive, present: readonly ToolArchive[]): readonly ToolArchive[] => {
  const { url, sha } = { ...findDefaultArchive(present), ...requested };
  if (url === undefined) throw unprocessable('Url is missing beside sha', 'url');
  if (sha === undefined) throw unprocessable('Sha is missing beside url', 'sha');
  return [{ url, sha, ...DEFAULT_PLATFORM }];
};

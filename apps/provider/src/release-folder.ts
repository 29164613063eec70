import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  checkArchive,
  DEFAULT_PROTOCOLS,
  computeFileDigest,
  formatChecksums,
  formatChecksumsName,
  formatManifestName,
  formatSignatureName,
  parseArchiveName,
  parseChecksums,
  readManifest,
  type ArchiveName,
  type ChecksumsByFile,
  type FileDigest,
  type Protocol,
} from '#provider-release';
import { createUsageError } from './command-error.js';
import type { ProblemCollector } from './problem-collector.js';

/** A platform's zip on this machine. */
export type PlatformArchive = ArchiveName & FileDigest & { readonly filename: string; readonly path: string };

/** What lies in a release folder, whether made by GoReleaser or by hand. */
export type ReleaseFolder = {
  readonly name: string;
  readonly version: string;
  readonly protocols: readonly Protocol[];
  readonly archives: readonly PlatformArchive[];
  /** SHA256SUMS as it lies there, or as it is made here. */
  readonly checksums: Buffer;
  readonly signature: Buffer | null;
  /** Files that are not of this release. */
  readonly ignored: readonly string[];
};

export type ReleaseSelection = {
  readonly name: string;
  /** The only one in the folder, if not given. */
  readonly version?: string | undefined;
  /** What a manifest says, or the registry's default, if not given. */
  readonly protocols?: readonly Protocol[] | undefined;
};

/** How a manifest is called in a repository, and in releases made by hand. */
const REPOSITORY_MANIFEST = 'terraform-registry-manifest.json';

const joinSorted = (words: Iterable<string>): string => [...words].toSorted().join(', ');

const listFiles = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw createUsageError(`There is no folder ${folder}`);
    if (error.code === 'ENOTDIR')
      throw createUsageError(`${folder} is not a folder: name the one that the release lies in`);
    throw error;
  });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
};

type Zip = ArchiveName & { readonly filename: string };

/** The zips of all releases in the folder. Of names that are none, those that begin like the provider's are told. */
const findZips = async (
  files: readonly string[],
  { name }: ReleaseSelection,
  problems: ProblemCollector,
): Promise<readonly Zip[]> => {
  const zips: Zip[] = [];
  for (const filename of files) {
    if (!filename.startsWith(`terraform-provider-`) || !filename.endsWith('.zip')) continue;
    const isMeant = filename.startsWith(`terraform-provider-${name}_`);
    const parse = (): ArchiveName => parseArchiveName(filename);
    const parsed = await (isMeant ? problems.collect(parse) : ignoreErrors(parse));
    if (parsed) zips.push({ ...parsed, filename });
  }
  return zips;
};

const ignoreErrors = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** The zips of the one version that is meant; none where there is no such, or several that might be. */
const selectZips = (
  zips: readonly Zip[],
  { name, version }: ReleaseSelection,
  folder: string,
  problems: ProblemCollector,
): readonly Zip[] => {
  const ours = zips.filter((zip) => zip.name === name);
  if (ours.length === 0) {
    const others = new Set(zips.map((zip) => zip.name));
    const there = others.size > 0 ? `; there are zips of ${joinSorted(others)}` : '';
    problems.add(`There is no terraform-provider-${name}_VERSION_OS_ARCH.zip in ${folder}${there}`);
    return [];
  }
  const versions = new Set(ours.map((zip) => zip.version));
  if (version !== undefined) {
    const meant = ours.filter((zip) => zip.version === version);
    if (meant.length === 0)
      problems.add(`There is no zip of version ${version} in ${folder}, but of ${joinSorted(versions)}`);
    return meant;
  }
  if (versions.size === 1) return ours;
  problems.add(`There are zips of several versions in ${folder}: ${joinSorted(versions)}. Choose one with --version`);
  return [];
};

const readArchives = async (
  zips: readonly Zip[],
  folder: string,
  problems: ProblemCollector,
): Promise<readonly PlatformArchive[]> => {
  const archives: PlatformArchive[] = [];
  for (const zip of zips) {
    const path = join(folder, zip.filename);
    const facts = await computeFileDigest(path);
    if (facts.size === 0) problems.add(`${zip.filename} is empty`);
    else await problems.collect(() => checkArchive(path, zip));
    archives.push({ ...zip, ...facts, path });
  }
  return archives;
};

const checkChecksums = (
  archives: readonly PlatformArchive[],
  sums: ChecksumsByFile,
  release: ReleaseSelection,
  problems: ProblemCollector,
): void => {
  const zips = new Set(archives.map(({ filename }) => filename));
  for (const { filename, sha256 } of archives) {
    const sum = Object.hasOwn(sums, filename) ? sums[filename] : undefined;
    if (sum === undefined) problems.add(`SHA256SUMS does not list ${filename}`);
    else if (sum !== sha256) problems.add(`${filename} has checksum ${sha256}, SHA256SUMS says ${sum}`);
  }
  for (const listed of Object.keys(sums)) {
    const isZip = listed.startsWith(`terraform-provider-${release.name}_`) && listed.endsWith('.zip');
    if (isZip && !zips.has(listed)) problems.add(`SHA256SUMS lists ${listed}, which is not in the folder`);
  }
};

/** Reads a file of the release, where it is there. */
type ReadReleaseFile = (filename: string) => Promise<Buffer | null>;

const readChecksums = async (
  { name, version }: Zip,
  archives: readonly PlatformArchive[],
  read: ReadReleaseFile,
  problems: ProblemCollector,
): Promise<Buffer> => {
  const filename = formatChecksumsName({ name, version });
  const content = await read(filename);
  if (!content)
    return Buffer.from(formatChecksums(Object.fromEntries(archives.map((one) => [one.filename, one.sha256]))));
  const sums = await problems.collect(() => parseChecksums(content));
  if (sums) checkChecksums(archives, sums, { name }, problems);
  return content;
};

const readProtocols = async (
  release: Zip,
  wanted: ReleaseSelection,
  read: ReadReleaseFile,
  problems: ProblemCollector,
): Promise<readonly Protocol[]> => {
  const manifest = (await read(formatManifestName(release))) ?? (await read(REPOSITORY_MANIFEST));
  if (wanted.protocols) return wanted.protocols;
  const named = manifest && (await problems.collect(() => readManifest(manifest.toString())));
  return named ?? DEFAULT_PROTOCOLS;
};

/** Reads a release, and notes all that is wrong with it; null where it cannot even be told which one is meant. */
export const readReleaseFolder = async (
  folder: string,
  wanted: ReleaseSelection,
  problems: ProblemCollector,
): Promise<ReleaseFolder | null> => {
  const files = await listFiles(folder);
  const zips = selectZips(await findZips(files, wanted, problems), wanted, folder, problems);
  const [first] = zips;
  if (!first) return null;
  const { name, version } = first;
  const used = new Set(zips.map(({ filename }) => filename));
  const read: ReadReleaseFile = async (filename) => {
    if (!files.includes(filename)) return null;
    used.add(filename);
    return readFile(join(folder, filename));
  };
  const archives = await readArchives(zips, folder, problems);
  const signature = await read(formatSignatureName(first));
  const hasChecksums = files.includes(formatChecksumsName(first));
  if (signature && !hasChecksums) {
    problems.add(
      `${formatSignatureName(first)} is there, but not ${formatChecksumsName(first)}, which it is a signature of`,
    );
  }
  return {
    name,
    version,
    archives,
    checksums: await readChecksums(first, archives, read, problems),
    signature,
    protocols: await readProtocols(first, wanted, read, problems),
    ignored: files.filter((file) => !used.has(basename(file))),
  };
};

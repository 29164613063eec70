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
} from '#registry/provider-release';
import { createUsageError } from './command-error.js';
import type { ProblemCollector } from './problem-collector.js';

/** A platform's zip on this machine. */
export type PlatformArchive = ArchiveName & FileDigest & { readonly filename: string; readonly path: string };

/** The content of a release folder, whether made by GoReleaser or by hand. */
export type ReleaseFolder = {
  readonly name: string;
  readonly version: string;
  readonly protocols: readonly Protocol[];
  readonly archives: readonly PlatformArchive[];
  /** SHA256SUMS of the folder, or created here. */
  readonly checksums: Buffer;
  readonly signature: Buffer | null;
  /** Files that do not belong to this release. */
  readonly ignored: readonly string[];
};

export type ReleaseSelection = {
  readonly name: string;
  /** Default: the only version in the folder. */
  readonly version?: string | undefined;
  /** Default: the protocols of the manifest, or the default of the registry. */
  readonly protocols?: readonly Protocol[] | undefined;
};

/** Name of the manifest in a repository, and in releases made by hand. */
const REPOSITORY_MANIFEST = 'terraform-registry-manifest.json';

const joinSorted = (words: Iterable<string>): string => [...words].toSorted().join(', ');

const listFiles = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw createUsageError(`There is no folder ${folder}`);
    if (error.code === 'ENOTDIR') throw createUsageError(`${folder} is not a folder; give the folder of the release`);
    throw error;
  });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
};

type Zip = ArchiveName & { readonly filename: string };

/** Returns the zips of all releases in the folder. Reports invalid names that begin with the name of the provider. */
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

/** Returns the zips of the chosen version. Returns none if the version is missing, or if the choice is ambiguous. */
const selectZips = (
  zips: readonly Zip[],
  { name, version }: ReleaseSelection,
  folder: string,
  problems: ProblemCollector,
): readonly Zip[] => {
  const ours = zips.filter((zip) => zip.name === name);
  if (ours.length === 0) {
    const otherNames = new Set(zips.map((zip) => zip.name));
    const there = otherNames.size > 0 ? `; there are zips of ${joinSorted(otherNames)}` : '';
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

/** Reads a file of the release. Null if it does not exist. */
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
  selection: ReleaseSelection,
  read: ReadReleaseFile,
  problems: ProblemCollector,
): Promise<readonly Protocol[]> => {
  const manifest = (await read(formatManifestName(release))) ?? (await read(REPOSITORY_MANIFEST));
  if (selection.protocols) return selection.protocols;
  const protocols = manifest && (await problems.collect(() => readManifest(manifest.toString())));
  return protocols ?? DEFAULT_PROTOCOLS;
};

/** Reads a release and collects all its problems. Returns null if it cannot choose a version. */
export const readReleaseFolder = async (
  folder: string,
  selection: ReleaseSelection,
  problems: ProblemCollector,
): Promise<ReleaseFolder | null> => {
  const files = await listFiles(folder);
  const zips = selectZips(await findZips(files, selection, problems), selection, folder, problems);
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
      `There is a ${formatSignatureName(first)} in the folder, but no ${formatChecksumsName(first)}, which it signs`,
    );
  }
  return {
    name,
    version,
    archives,
    checksums: await readChecksums(first, archives, read, problems),
    signature,
    protocols: await readProtocols(first, selection, read, problems),
    ignored: files.filter((file) => !used.has(basename(file))),
  };
};

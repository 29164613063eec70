import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  checkArchive,
  DEFAULT_PROTOCOLS,
  factsOfFile,
  formatChecksums,
  nameOfChecksums,
  nameOfManifest,
  nameOfSignature,
  parseArchiveName,
  parseChecksums,
  readManifest,
  type ArchiveName,
  type Checksums,
  type FileFacts,
  type Protocol,
} from '#provider-release';
import { badUsage } from './failure.js';
import type { Problems } from './problems.js';

/** A platform's zip on this machine. */
export type Archive = ArchiveName & FileFacts & { readonly filename: string; readonly path: string };

/** What lies in a release folder, whether made by GoReleaser or by hand. */
export type ReleaseFolder = {
  readonly name: string;
  readonly version: string;
  readonly protocols: readonly Protocol[];
  readonly archives: readonly Archive[];
  /** SHA256SUMS as it lies there, or as it is made here. */
  readonly checksums: Buffer;
  readonly signature: Buffer | null;
  /** Files that are not of this release. */
  readonly ignored: readonly string[];
};

export type Wanted = {
  readonly name: string;
  /** The only one in the folder, if not given. */
  readonly version?: string | undefined;
  /** What a manifest says, or the registry's default, if not given. */
  readonly protocols?: readonly Protocol[] | undefined;
};

/** How a manifest is called in a repository, and in releases made by hand. */
const REPOSITORY_MANIFEST = 'terraform-registry-manifest.json';

const list = (words: Iterable<string>): string => [...words].toSorted().join(', ');

const filesIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw badUsage(`There is no folder ${folder}`);
    if (error.code === 'ENOTDIR') throw badUsage(`${folder} is not a folder: name the one that the release lies in`);
    throw error;
  });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
};

type Zip = ArchiveName & { readonly filename: string };

/** The zips of all releases in the folder. Of names that are none, those that begin like the provider's are told. */
const zipsAmong = async (files: readonly string[], { name }: Wanted, problems: Problems): Promise<readonly Zip[]> => {
  const zips: Zip[] = [];
  for (const filename of files) {
    if (!filename.startsWith(`terraform-provider-`) || !filename.endsWith('.zip')) continue;
    const isMeant = filename.startsWith(`terraform-provider-${name}_`);
    const parse = (): ArchiveName => parseArchiveName(filename);
    const parsed = await (isMeant ? problems.collect(parse) : silently(parse));
    if (parsed) zips.push({ ...parsed, filename });
  }
  return zips;
};

const silently = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** The zips of the one version that is meant; none where there is no such, or several that might be. */
const chosen = (
  zips: readonly Zip[],
  { name, version }: Wanted,
  folder: string,
  problems: Problems,
): readonly Zip[] => {
  const ours = zips.filter((zip) => zip.name === name);
  if (ours.length === 0) {
    const others = new Set(zips.map((zip) => zip.name));
    const there = others.size > 0 ? `; there are zips of ${list(others)}` : '';
    problems.add(`There is no terraform-provider-${name}_VERSION_OS_ARCH.zip in ${folder}${there}`);
    return [];
  }
  const versions = new Set(ours.map((zip) => zip.version));
  if (version !== undefined) {
    const meant = ours.filter((zip) => zip.version === version);
    if (meant.length === 0)
      problems.add(`There is no zip of version ${version} in ${folder}, but of ${list(versions)}`);
    return meant;
  }
  if (versions.size === 1) return ours;
  problems.add(`There are zips of several versions in ${folder}: ${list(versions)}. Choose one with --version`);
  return [];
};

const archivesOf = async (zips: readonly Zip[], folder: string, problems: Problems): Promise<readonly Archive[]> => {
  const archives: Archive[] = [];
  for (const zip of zips) {
    const path = join(folder, zip.filename);
    const facts = await factsOfFile(path);
    if (facts.size === 0) problems.add(`${zip.filename} is empty`);
    else await problems.collect(() => checkArchive(path, zip));
    archives.push({ ...zip, ...facts, path });
  }
  return archives;
};

const compare = (archives: readonly Archive[], sums: Checksums, release: Wanted, problems: Problems): void => {
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
type Read = (filename: string) => Promise<Buffer | null>;

const checksumsOf = async (
  { name, version }: Zip,
  archives: readonly Archive[],
  read: Read,
  problems: Problems,
): Promise<Buffer> => {
  const filename = nameOfChecksums({ name, version });
  const content = await read(filename);
  if (!content)
    return Buffer.from(formatChecksums(Object.fromEntries(archives.map((one) => [one.filename, one.sha256]))));
  const sums = await problems.collect(() => parseChecksums(content));
  if (sums) compare(archives, sums, { name }, problems);
  return content;
};

const protocolsOf = async (
  release: Zip,
  wanted: Wanted,
  read: Read,
  problems: Problems,
): Promise<readonly Protocol[]> => {
  const manifest = (await read(nameOfManifest(release))) ?? (await read(REPOSITORY_MANIFEST));
  if (wanted.protocols) return wanted.protocols;
  const named = manifest && (await problems.collect(() => readManifest(manifest.toString())));
  return named ?? DEFAULT_PROTOCOLS;
};

/** Reads a release, and notes all that is wrong with it; null where it cannot even be told which one is meant. */
export const readReleaseFolder = async (
  folder: string,
  wanted: Wanted,
  problems: Problems,
): Promise<ReleaseFolder | null> => {
  const files = await filesIn(folder);
  const zips = chosen(await zipsAmong(files, wanted, problems), wanted, folder, problems);
  const [first] = zips;
  if (!first) return null;
  const { name, version } = first;
  const used = new Set(zips.map(({ filename }) => filename));
  const read: Read = async (filename) => {
    if (!files.includes(filename)) return null;
    used.add(filename);
    return readFile(join(folder, filename));
  };
  const archives = await archivesOf(zips, folder, problems);
  const signature = await read(nameOfSignature(first));
  const hasChecksums = files.includes(nameOfChecksums(first));
  if (signature && !hasChecksums) {
    problems.add(`${nameOfSignature(first)} is there, but not ${nameOfChecksums(first)}, which it is a signature of`);
  }
  return {
    name,
    version,
    archives,
    checksums: await checksumsOf(first, archives, read, problems),
    signature,
    protocols: await protocolsOf(first, wanted, read, problems),
    ignored: files.filter((file) => !used.has(basename(file))),
  };
};

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { getErrorCode } from '#platform/kernel';
import { nameSignature, verifySignature, type ReleaseKeys } from './release-keys.js';
import type { ExecutableName, ToolName } from './tool-choice.js';

/** The server of the releases of Terraform. */
export const HASHICORP_RELEASES = 'https://releases.hashicorp.com';
const OPENTOFU_RELEASES = 'https://github.com/opentofu/opentofu/releases/download';

/** Bytes of an archive, and of the program in it. Releases of 2026 have about 30 MB and 100 MB. */
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
const MAX_PROGRAM_BYTES = 1024 * 1024 * 1024;
const TIMEOUT_MS = 600_000;

/** The folder or the server does not have the release. */
export class MissingReleaseError extends Error {
  override readonly name = 'MissingReleaseError';
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Returns operating system and architecture of this machine in the names of releases, such as `linux_amd64`. */
export const getReleasePlatform = (): string =>
  `${process.platform === 'win32' ? 'windows' : process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;

const isUrl = (mirror: string): boolean => /^https?:\/\//.test(mirror);

const openFile = (path: string): Promise<Readable> =>
  new Promise((resolve, reject) => {
    const file = createReadStream(path);
    file.once('open', () => resolve(file));
    file.once('error', (error) =>
      reject(getErrorCode(error) === 'ENOENT' ? new MissingReleaseError(`${path} does not exist`) : error),
    );
  });

const openUrl = async (url: string): Promise<Readable> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    const { cause } = error as { readonly cause?: unknown };
    throw new Error(`${url} cannot be reached: ${cause instanceof Error ? cause.message : String(error)}`);
  });
  if (response.status === 404) throw new MissingReleaseError(`${url} does not exist`);
  if (!response.ok || response.body === null) throw new Error(`${url} answers ${response.status}`);
  return Readable.fromWeb(response.body);
};

const withoutLastSlash = (mirror: string): string => mirror.replace(/\/+$/, '');

/** Opens a file of a mirror, which is a folder or the URL of a server. */
const openMirrorFile = (mirror: string, path: string): Promise<Readable> =>
  isUrl(mirror) ? openUrl(`${withoutLastSlash(mirror)}/${path}`) : openFile(join(mirror, path));

/** Passes on content, and fails above the limit. */
const limitBytes = (maxBytes: number, what: string): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > maxBytes ? new Error(`${what} has more than ${maxBytes} bytes`) : null, chunk);
    },
  });
};

/** Returns the checksum of a file in a list that `sha256sum` writes. */
export const findChecksum = (list: string, file: string): string | null =>
  list
    .split('\n')
    .map((line) => /^([0-9a-f]{64}) [ *](.+)$/.exec(line.trim()))
    .find((match) => match?.[2] === file)?.[1] ?? null;

const readContent = async (mirror: string, path: string): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  await pipeline(await openMirrorFile(mirror, path), limitBytes(MAX_ARCHIVE_BYTES, path), async (content) => {
    for await (const chunk of content as AsyncIterable<Buffer>) chunks.push(chunk);
  });
  return Buffer.concat(chunks);
};

/** Stores an archive. Resolves to its checksum. */
const storeArchive = async (content: Readable, name: string, target: string): Promise<string> => {
  const hash = createHash('sha256');
  const update = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const file = createWriteStream(target, { flags: 'wx', mode: 0o600 });
  await pipeline(content, limitBytes(MAX_ARCHIVE_BYTES, name), update, file);
  return hash.digest('hex');
};

const findProgram = async (zip: ZipFile, name: string): Promise<Entry> => {
  for await (const entry of zip.eachEntry()) if (entry.fileName === name) return entry;
  throw new Error(`the archive has no file ${name}`);
};

const unpackProgram = async (archive: string, name: string, target: string): Promise<void> => {
  const zip = await openPromise(archive, { strictFileNames: true, autoClose: false });
  try {
    const content = await zip.openReadStreamPromise(await findProgram(zip, name));
    const file = createWriteStream(target, { flags: 'wx', mode: 0o755 });
    await pipeline(content, limitBytes(MAX_PROGRAM_BYTES, name), file);
  } finally {
    zip.close();
  }
};

/** A release of a tool, and where it comes from. */
type MirroredRelease = {
  readonly mirror: string;
  readonly name: ToolName;
  readonly version: string;
  /** The keys that sign releases; null accepts releases without a signature. */
  readonly keys: ReleaseKeys | null;
};

/** Returns the root and the path of a folder with the files of a release. A mirror has both tools. */
const locateRelease = ({ mirror, name, version }: MirroredRelease): readonly [root: string, path: string] =>
  name === 'tofu' && withoutLastSlash(mirror) === HASHICORP_RELEASES
    ? [OPENTOFU_RELEASES, `v${version}`]
    : [mirror, `${name}/${version}`];

/** Returns the list of checksums of a release. Rejects if its signature is not valid. */
const readChecksums = async (release: MirroredRelease): Promise<string> => {
  const { name, version, keys } = release;
  const [root, path] = locateRelease(release);
  const file = `${name}_${version}_SHA256SUMS`;
  const checksums = await readContent(root, `${path}/${file}`);
  if (keys === null) return checksums.toString();
  const signature = nameSignature(name, file);
  try {
    await verifySignature(keys[name], checksums, await readContent(root, `${path}/${signature}`));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `its signature ${signature} cannot be verified (${reason}). A mirror needs this file beside ${file}. CADASTRE_TOOL_SIGNATURES=off ` +
        'accepts releases without it',
    );
  }
  return checksums.toString();
};

const downloadInto = async (release: MirroredRelease, folder: string): Promise<void> => {
  const { name: tool, version } = release;
  const [root, path] = locateRelease(release);
  const name = `${tool}_${version}_${getReleasePlatform()}.zip`;
  const checksum = findChecksum(await readChecksums(release), name);
  if (checksum === null) throw new MissingReleaseError(`${tool} ${version} has no release for ${getReleasePlatform()}`);
  const archive = join(folder, name);
  const actual = await storeArchive(await openMirrorFile(root, `${path}/${name}`), name, archive);
  if (actual !== checksum) throw new Error(`${name} has the checksum ${actual}, but its release names ${checksum}`);
  await unpackProgram(archive, tool, join(folder, tool));
  await rm(archive);
};

/** An archive that administrators of the site have set for a version. `sha` is its SHA-256. */
export type SiteArchive = { readonly url: string; readonly sha: string; readonly os: string; readonly arch: string };

/** The OPA project publishes programs without an archive around them. */
const isArchived = (name: ExecutableName): boolean => name !== 'opa';

const downloadArchiveInto = async ({ url, sha }: SiteArchive, name: ExecutableName, folder: string): Promise<void> => {
  const download = join(folder, 'download');
  const actual = await storeArchive(await openUrl(url), url, download);
  if (actual !== sha) throw new Error(`${url} has the checksum ${actual}, but must have ${sha}`);
  const program = join(folder, name);
  if (isArchived(name)) {
    await unpackProgram(download, name, program);
    await rm(download);
  } else {
    await rename(download, program);
    await chmod(program, 0o755);
  }
};

/** Fills a folder, which appears when it is complete, so that several executors can share it. */
const fillFolder = async (folder: string, fill: (draft: string) => Promise<void>): Promise<void> => {
  // Not a version, so that nobody takes it for a complete download.
  const draft = join(dirname(folder), `.draft-${basename(folder)}.${process.pid}-${Date.now()}`);
  await mkdir(draft, { recursive: true });
  try {
    await fill(draft);
    // What is there is incomplete, because its program does not run.
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder).catch((error: unknown) => {
      // Another executor was faster.
      if (!['EEXIST', 'ENOTEMPTY'].includes(getErrorCode(error) ?? '')) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** Downloads a tool from a mirror with the layout of releases.hashicorp.com, verifies it, and unpacks it into the folder. */
export const downloadRelease = (release: MirroredRelease, folder: string): Promise<void> =>
  fillFolder(folder, (draft) => downloadInto(release, draft));

/** Downloads a program from an archive that administrators of the site have set, checks its checksum, and stores the program in the folder. */
export const downloadArchivedTool = (archive: SiteArchive, name: ExecutableName, folder: string): Promise<void> =>
  fillFolder(folder, (draft) => downloadArchiveInto(archive, name, draft));

/** Resolves to the names in a folder; to none if it does not exist. */
export const readFolderNames = (folder: string): Promise<readonly string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw error;
  });

/** Resolves to the versions that a mirror lists. A folder has a folder for each; a server has an index. */
export const listMirrorVersions = async (mirror: string, name: ToolName): Promise<readonly string[]> => {
  if (!isUrl(mirror)) return readFolderNames(join(mirror, name));
  const index = JSON.parse((await readContent(mirror, `${name}/index.json`)).toString()) as {
    readonly versions?: object;
  };
  return Object.keys(index.versions ?? {});
};

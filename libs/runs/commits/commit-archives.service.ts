import { Readable } from 'node:stream';
import { MIB, UnusableArchiveError } from '#storage/blob-store';
import { GitHostError, type GitHost } from '#vcs/git-hosts';
import { ArchivedTexts, type PlacedArchive } from './commit-archive.repacker.js';
import { parseGitModules, resolveSubmodule, toSubmodulePath, type DeclaredSubmodule } from './git-modules.js';

/** A commit to download. */
type RequestedCommit = {
  readonly identifier: string;
  readonly sha: string;
  /** Address of the Git host for people. Submodules are repositories below it. */
  readonly httpUrl: string;
  readonly withSubmodules: boolean;
};

/** A repository at a commit, and the folder of its files in the configuration. */
type PlacedCommit = { readonly identifier: string; readonly sha: string; readonly folder: string };
type DownloadedCommit = PlacedCommit & { readonly archive: Buffer };

/** Submodules that a commit and its submodules declare together. Each declaration costs requests, also without a submodule. */
const MAX_SUBMODULES = 20;
/** The archives are in memory together. */
const MAX_BYTES = 64 * MIB;
/** Failures after which another attempt can succeed. */
export const TEMPORARY_FAILURES: readonly GitHostError['failure'][] = [
  'unavailable',
  'rate-limited',
  'unauthorized',
  'out-of-time',
];

const toStream = (content: Buffer): Readable => Readable.from([content], { objectMode: false });

type ArchiveHost = Pick<GitHost, 'downloadArchive' | 'findSubmodule'>;

/** Describes which submodule the host refuses. */
const describeFailure = (error: unknown, folder: string): unknown =>
  error instanceof GitHostError && !TEMPORARY_FAILURES.includes(error.failure)
    ? new UnusableArchiveError(`The submodule ${folder} cannot be fetched: ${error.message}`, { cause: error })
    : error;

/** Returns where a submodule is; null if the commit has none at the path, as Git ignores such a declaration. */
const findSubmodule = async (
  host: ArchiveHost,
  parent: PlacedCommit,
  { path, url }: DeclaredSubmodule,
  httpUrl: string,
): Promise<PlacedCommit | null> => {
  const inner = toSubmodulePath(path);
  if (inner === null) throw new UnusableArchiveError(`A submodule cannot have the path ${JSON.stringify(path)}`);
  const folder = parent.folder === '' ? inner : `${parent.folder}/${inner}`;
  try {
    const sha = await host.findSubmodule(parent.identifier, parent.sha, inner);
    if (sha === null) return null;
    const identifier = resolveSubmodule(url, httpUrl, parent.identifier);
    if (identifier === null)
      throw new UnusableArchiveError(
        `The submodule ${folder} is no repository of ${new URL(httpUrl).host}, and the server reads no other host`,
      );
    return { identifier, sha, folder };
  } catch (error) {
    throw describeFailure(error, folder);
  }
};

const findSubmodules = async (
  host: ArchiveHost,
  parent: PlacedCommit,
  declared: readonly DeclaredSubmodule[],
  httpUrl: string,
): Promise<readonly PlacedCommit[]> => {
  const submodules: PlacedCommit[] = [];
  for (const one of declared) {
    const submodule = await findSubmodule(host, parent, one, httpUrl);
    if (submodule && !submodules.some(({ folder }) => folder === submodule.folder)) submodules.push(submodule);
  }
  return submodules;
};

const download = async (host: ArchiveHost, commit: PlacedCommit): Promise<DownloadedCommit> => {
  try {
    return { ...commit, archive: await host.downloadArchive(commit.identifier, commit.sha) };
  } catch (error) {
    throw commit.folder === '' ? error : describeFailure(error, commit.folder);
  }
};

/**
 * Downloads the archive of a commit, and with `withSubmodules` those of its submodules, at any depth. The server runs no Git: nothing in
 * a repository can name a command, and the token goes to the API of its Git host only.
 */
export const downloadCommit = async (
  host: ArchiveHost,
  { identifier, sha, httpUrl, withSubmodules }: RequestedCommit,
): Promise<readonly PlacedArchive[]> => {
  const downloaded: DownloadedCommit[] = [];
  const waiting: PlacedCommit[] = [{ identifier, sha, folder: '' }];
  const texts = new ArchivedTexts();
  let bytes = 0;
  let declarations = 0;
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const commit = await download(host, next);
    downloaded.push(commit);
    bytes += commit.archive.length;
    if (bytes > MAX_BYTES)
      throw new UnusableArchiveError('The archives of the commit and of its submodules have more than 64 MiB');
    if (!withSubmodules) break;
    const declared = parseGitModules((await texts.read(toStream(commit.archive), '.gitmodules')) ?? '');
    declarations += declared.length;
    if (declarations > MAX_SUBMODULES)
      throw new UnusableArchiveError(`The commit and its submodules declare more than ${MAX_SUBMODULES} submodules`);
    waiting.push(...(await findSubmodules(host, commit, declared, httpUrl)));
  }
  return downloaded.map(({ archive, folder }) => ({ content: toStream(archive), folder }));
};

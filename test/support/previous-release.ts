import { execFile } from 'node:child_process';
import { readFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './folders.js';

const run = async (program: string, args: readonly string[], cwd = ROOT): Promise<string> =>
  (await promisify(execFile)(program, [...args], { cwd, maxBuffer: 1024 ** 3 })).stdout.trim();

const git = (...args: readonly string[]): Promise<string> => run('git', args);

/**
 * Returns the version of the last release before a source with this changelog. A source without lines under `Unreleased` is itself the
 * first release of the list.
 */
export const findPreviousVersion = (changelog: string): string => {
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version as string);
  const isRelease = !/^## Unreleased\n+(?!## )\S/m.test(changelog);
  const previous = releases[isRelease ? 1 : 0];
  if (previous === undefined) throw new Error('CHANGELOG.md lists no release before this source');
  return previous;
};

const readPreviousVersion = async (): Promise<string> =>
  findPreviousVersion(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'));

/** Returns the commit of a release: its tag, else the commit that set the version. */
const findReleaseCommit = async (version: string): Promise<string> => {
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true') await git('fetch', '--quiet', '--unshallow');
  const tagged = await git('tag', '--list', `v${version}`, version);
  const [tag] = tagged.split('\n');
  if (tag) return git('rev-parse', `${tag}^{commit}`);
  const commits = await git('log', '--format=%H', `-S"version": "${version}"`, '--', 'package.json');
  const first = commits.split('\n').at(-1);
  if (!first) throw new Error(`git has no commit that set version ${version}; clone the repository with its history`);
  return first;
};

/** Returns the commit of the previous release. */
export const findPreviousRelease = async (): Promise<string> => findReleaseCommit(await readPreviousVersion());

/** Returns the names of the files in a folder of a commit. */
export const listFilesAt = async (commit: string, folder: string): Promise<readonly string[]> => {
  const listed = await git('ls-tree', '--name-only', `${commit}:${folder}`);
  return listed.split('\n').filter((name) => name !== '');
};

/** Returns a file of a commit, or null if it has none with this path. */
export const readFileAt = async (commit: string, path: string): Promise<string | null> => {
  if ((await git('ls-tree', '--name-only', commit, '--', path)) === '') return null;
  return git('show', `${commit}:${path}`);
};

/**
 * Builds the previous release in the folder, which then looks like an installed product. The release runs with the
 * packages of this source. What only the release needs is a development dependency until the next one: `@fastify/helmet`.
 */
export const buildPreviousRelease = async (folder: string): Promise<{ readonly version: string }> => {
  const version = await readPreviousVersion();
  const commit = await findReleaseCommit(version);
  await mkdir(folder, { recursive: true });
  const archive = join(folder, 'source.tar');
  await git('archive', '--output', archive, commit, 'apps', 'libs', 'package.json', '.swcrc');
  await run('tar', ['-xf', archive], folder);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const swc = join(ROOT, 'node_modules/@swc/cli/bin/swc.js');
  const ignored = ['--ignore', '**/*.spec.ts,**/spec.ts'];
  const args = [swc, 'apps', 'libs', '-d', 'dist', '--copy-files', '--config-file', '.swcrc', ...ignored, '--quiet'];
  await run(process.execPath, args, folder);
  return { version };
};

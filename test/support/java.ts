import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './folders.js';

const run = promisify(execFile);

/** The folder of cached servers, which git ignores. Each server has a folder in it. */
const CACHE = join(ROOT, '.cache');

export const isCached = (name: string): boolean => existsSync(join(CACHE, name));

/**
 * Returns a folder that takes long to make and never changes. It is made under another name and then renamed, because
 * several test workers may find the cache empty at once.
 */
export const cached = async (name: string, make: (folder: string) => Promise<void>): Promise<string> => {
  const folder = join(CACHE, name);
  if (isCached(name)) return folder;
  const building = `${folder}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(building, { recursive: true });
  await make(building);
  try {
    await rename(building, folder);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    if (!isCached(name)) throw error;
  }
  return folder;
};

/** Lets Maven copy the jars of a pom into a folder. */
export const fetchJars = async (pom: string, folder: string): Promise<void> => {
  demand('mvn', '-v');
  const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  await run('mvn', ['-B', '-q', '-f', pom, ...copy]);
};

const demand = (command: string, ...args: readonly string[]): void => {
  if (spawnSync(command, args, { timeout: 10_000 }).status === 0) return;
  throw new Error(
    `This test needs ${command}: Java 17 or newer with Maven (apt-get install openjdk-17-jre-headless maven).`,
  );
};

/**
 * A shell between this process and Java. It ends Java with SIGKILL when its standard input closes: on `kill`, and when
 * the test worker dies for any reason, so that no server remains.
 */
const KEEPER = `
exec 3<&0
"$@" </dev/null 3<&- &
java=$!
{ cat <&3 >/dev/null; kill -9 $java 2>/dev/null; } &
wait $java
`;

export type RunningJava = {
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Returns the output if the process has ended without `kill`, else null. */
  failure(): string | null;
};

/** Runs `java` with its output in a file. */
export const runJava = async (args: readonly string[], output: string): Promise<RunningJava> => {
  demand('java', '-version');
  const file = await open(output, 'w');
  const child = spawn('sh', ['-c', KEEPER, 'keeper', 'java', ...args], { stdio: ['pipe', file.fd, file.fd] });
  let killed = false;
  let outputText: string | null = null;
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  }).then(async () => {
    child.stdin?.end();
    await file.close();
    outputText = existsSync(output) ? await readFile(output, 'utf8') : '';
  });
  return {
    kill: async () => {
      killed = true;
      child.stdin?.end();
      await ended;
    },
    failure: () => (killed ? null : outputText),
  };
};

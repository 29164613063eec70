import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** Lets Maven copy the jars of a pom into a folder. */
export const fetchJars = async (pom: string, folder: string): Promise<void> => {
  requirePrograms('java', 'mvn');
  const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  await run('mvn', ['-B', '-q', '-f', pom, ...copy]);
};

/**
 * A shell between this process and Java. It ends Java with SIGTERM when it reads a line, and with SIGKILL when its standard
 * input closes: on `kill`, and when the test worker dies for any reason, so that no server remains.
 */
const KEEPER = `
exec 3<&0
"$@" </dev/null 3<&- &
java=$!
{ read -r line <&3 && kill $java; cat <&3 >/dev/null; kill -9 $java 2>/dev/null; } &
wait $java
`;

export type RunningJava = {
  /** Sends SIGTERM. Resolves when the process has ended. */
  stop(): Promise<void>;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Returns the output if the process has ended without `kill`, else null. */
  failure(): string | null;
};

/** Runs `java` with its output in a file. */
export const runJava = async (args: readonly string[], output: string): Promise<RunningJava> => {
  requirePrograms('java');
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
    stop: async () => {
      child.stdin?.write('\n');
      await ended;
    },
    kill: async () => {
      killed = true;
      child.stdin?.end();
      await ended;
    },
    failure: () => (killed ? null : outputText),
  };
};

const ARCHIVE = 'classes.jsa';

/**
 * Writes an archive of the classes of a server to the folder, as Java has them in memory. The server runs until `isReady`
 * resolves. Java ignores an archive that was made with jars in another folder.
 */
export const archiveClasses = async (
  folder: string,
  args: readonly string[],
  isReady: (server: RunningJava) => Promise<void>,
): Promise<void> => {
  const server = await runJava(
    [`-XX:ArchiveClassesAtExit=${join(folder, ARCHIVE)}`, ...args],
    join(folder, 'output.txt'),
  );
  try {
    await isReady(server);
    await server.stop();
  } finally {
    await server.kill();
  }
};

/** Returns the argument with which Java reads the classes of `archiveClasses`. */
export const useArchive = (folder: string): string => `-XX:SharedArchiveFile=${join(folder, ARCHIVE)}`;

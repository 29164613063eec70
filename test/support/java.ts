import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runKeptProgram, type KeptProgram } from './kept-program.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** Lets Maven copy the jars of a pom into a folder. */
export const fetchJars = async (pom: string, folder: string): Promise<void> => {
  requirePrograms('java', 'mvn');
  const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  await run('mvn', ['-B', '-q', '-f', pom, ...copy]);
};

export type RunningJava = KeptProgram;

/** Runs `java` with its output in a file. */
export const runJava = async (args: readonly string[], output: string): Promise<RunningJava> => {
  requirePrograms('java');
  return runKeptProgram('java', args, output);
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

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';

/**
 * A shell between this process and a program. It ends the program with SIGTERM when it reads a line, and with SIGKILL when its
 * standard input closes: on `kill`, and when the test worker dies for any reason, so that no server remains.
 */
const KEEPER = `
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ read -r line <&3 && kill $program; cat <&3 >/dev/null; kill -9 $program 2>/dev/null; } &
wait $program
`;

export type KeptProgram = {
  /** Sends SIGTERM. Resolves when the process has ended. */
  stop(): Promise<void>;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Returns the output if the process has ended without `kill`, else null. */
  failure(): string | null;
};

/** Runs a program with its output in a file. It ends with the test worker. */
export const runKeptProgram = async (
  program: string,
  args: readonly string[],
  output: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<KeptProgram> => {
  const file = await open(output, 'w');
  const child = spawn('sh', ['-c', KEEPER, 'keeper', program, ...args], {
    stdio: ['pipe', file.fd, file.fd],
    env,
  });
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

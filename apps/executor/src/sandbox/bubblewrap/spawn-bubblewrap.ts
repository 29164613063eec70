import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { SYSTEM_PATH, type SandboxExit } from '../sandbox.js';
import type { LaunchOrder, LauncherMessage } from './launch-order.js';

type BubblewrapProcess = ChildProcess & {
  readonly stdio: readonly [null, stdout: Readable, stderr: Readable, control: Duplex, info: Readable];
};

type CommandResult = Pick<SandboxExit, 'code' | 'signal'>;

/** A sandbox whose command runs. */
export type SpawnedSandbox = {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The first process in the namespace of the sandbox. The kernel ends all others with it. */
  readonly firstProcess: number;
  readonly interrupt: () => void;
  /** How the command ended; null if something else ended the sandbox. */
  readonly getResult: () => CommandResult | null;
};

/** Enters the control group before anything else runs, so that nothing escapes it. */
const ENTER_AND_RUN = 'echo 0 > "$0" && exec "$@"';

const launcherMessage: z.ZodType<LauncherMessage> = z.union([
  z.strictObject({ started: z.literal(true) }),
  z.strictObject({ failure: z.string() }),
  z.strictObject({
    code: z.int().nullable(),
    signal: z.custom<NodeJS.Signals>((value) => typeof value === 'string').nullable(),
  }),
]);

/** A message that is not valid comes from a command that has replaced the launcher. */
const parseMessage = (line: string): LauncherMessage => {
  try {
    return launcherMessage.parse(JSON.parse(line));
  } catch {
    return { failure: 'invalid message' };
  }
};

/** The launcher sends fewer. A command that has replaced it could fill the memory of the executor. */
const MAX_MESSAGE_BYTES = 64 * 1024;

/** Reads the messages until the sandbox ends. `started` resolves to false if it ends before the command has started. */
const readMessages = (control: Duplex) => {
  const started = Promise.withResolvers<boolean>();
  let result: CommandResult | null = null;
  let bytes = 0;
  control.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_MESSAGE_BYTES) control.destroy();
  });
  const lines = createInterface({ input: control });
  lines.once('close', () => started.resolve(false));
  // The connection is reset if the sandbox ends before it has read everything.
  lines.once('error', () => started.resolve(false));
  lines.on('line', (line) => {
    const message = parseMessage(line);
    if ('started' in message) started.resolve(true);
    else if ('failure' in message) started.reject(new Error(message.failure));
    else result = message;
  });
  return { started: started.promise, getResult: () => result };
};

/** bubblewrap reports the process before it runs the launcher. */
const readFirstProcess = async (info: Readable): Promise<number> =>
  Number(/"child-pid": (\d+)/.exec(await text(info))?.[1]);

/**
 * Runs bubblewrap, and resolves when the command runs in it. Rejects with a message for the operator if the command cannot
 * run. `processesFile`: the file with the processes of a control group.
 */
export const spawnBubblewrap = async (
  argv: readonly string[],
  order: LaunchOrder,
  processesFile: string | null,
): Promise<SpawnedSandbox> => {
  const [program = '', ...parameters] =
    processesFile === null ? argv : ['/bin/sh', '-c', ENTER_AND_RUN, processesFile, ...argv];
  const child = spawn(program, parameters, {
    cwd: '/',
    // Variables of callers must not reach programs outside of the sandbox: LD_PRELOAD would run code in them.
    env: { PATH: SYSTEM_PATH },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  }) as unknown as BubblewrapProcess;
  await once(child, 'spawn');
  const [, stdout, stderr, control, info] = child.stdio;
  // The sandbox can end at any time, and what it cannot read any longer does not matter.
  control.on('error', () => undefined);
  control.write(`${JSON.stringify(order)}\n`);
  const { started, getResult } = readMessages(control);
  let isInterrupted = false;
  const interrupt = (): void => {
    if (!isInterrupted) control.write('interrupt\n');
    isInterrupted = true;
  };
  try {
    const firstProcess = await readFirstProcess(info);
    if (!(await started)) throw new Error((await text(stderr)).trim() || 'the sandbox has ended');
    return { child, stdout, stderr, firstProcess, interrupt, getResult };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
};

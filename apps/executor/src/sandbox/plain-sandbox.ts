import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Sandbox, SandboxCommand, SandboxedProcess } from './sandbox.js';
import { sendSignal } from './signals.js';

const start = async ({ argv, workingDirectory, environment, seconds }: SandboxCommand): Promise<SandboxedProcess> => {
  const [program, ...parameters] = argv;
  const child = spawn(program, parameters, {
    cwd: workingDirectory,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: Ctrl+C in the terminal of the executor does not reach it, and `kill` ends all of it.
    detached: true,
  });
  await once(child, 'spawn');
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const { pid } = child as { readonly pid: number };
  let isEnded = false;
  let isLate = false;
  let isInterrupted = false;
  // Later, another process can have the id.
  const kill = (): void => {
    if (!isEnded) sendSignal(-pid, 'SIGKILL');
  };
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, seconds * 1000);
  // What the command left behind in its group would keep the streams open.
  child.once('exit', kill);
  const exit = closed.then(([code, signal]) => {
    isEnded = true;
    clearTimeout(timer);
    return { code, signal, exceeded: isLate ? ('time' as const) : null };
  });
  const interrupt = (): void => {
    if (!isInterrupted) child.kill('SIGINT');
    isInterrupted = true;
  };
  return { stdout: child.stdout, stderr: child.stderr, exit, interrupt, kill };
};

/**
 * Runs commands as the user of the executor, in process groups of their own. It hides nothing, and of the limits it has
 * only the time. Daemons that leave the group survive.
 */
export const plainSandbox: Sandbox = { name: 'none', locate: ({ source }) => source, start };

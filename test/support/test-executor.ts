import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILD, DATA } from './folders.js';
import { waitUntil, type ProcessResult } from './product.js';

/** A process of the product that executes runs. */
export type TestExecutor = {
  readonly workFolder: string;
  /** Starts it, after the first start and after each end. Resolves when it has registered. */
  start(): Promise<void>;
  /** Sends a signal. Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<ProcessResult>;
  /** Returns everything that it has logged since the last start. */
  output(): string;
  /** Ends it, and removes its files. */
  remove(): Promise<void>;
};

/** `caFile`: the certificate authority of the server, or null over plain HTTP. */
type ExecutorSite = { readonly url: string; readonly caFile: string | null; readonly token: string };

/** Creates an executor with the token of a pool. It runs commands as the user of the tests. */
export const createTestExecutor = async (
  { url, caFile, token }: ExecutorSite,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestExecutor> => {
  const workFolder = await mkdtemp(join(DATA, 'cadastre-executor-'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...(caFile === null ? {} : { SSL_CERT_FILE: caFile }),
    CADASTRE_SERVER: url,
    CADASTRE_EXECUTOR_TOKEN: token,
    CADASTRE_EXECUTOR_WORK: workFolder,
    CADASTRE_EXECUTOR_SANDBOX: 'off',
    ...settings,
  };
  let output = { stdout: '', stderr: '' };
  let running: { readonly ended: Promise<ProcessResult>; kill(signal: NodeJS.Signals): void } | null = null;
  const start = async (): Promise<void> => {
    const main = join(BUILD, 'dist/apps/cadastre/src/main.js');
    const child = spawn(process.execPath, [main, 'executor'], { cwd: BUILD, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const collected = { stdout: '', stderr: '' };
    output = collected;
    child.stdout.on('data', (chunk: Buffer) => (collected.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (collected.stderr += chunk.toString()));
    const ended = new Promise<ProcessResult>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, ...collected }));
    });
    running = { ended, kill: (signal) => void child.kill(signal) };
    await waitUntil(() => {
      if (child.exitCode !== null) throw new Error(`the executor ended: ${collected.stderr}${collected.stdout}`);
      return collected.stdout.includes('executor registered');
    }, 'the executor has registered');
  };
  const end = async (signal: NodeJS.Signals): Promise<ProcessResult> => {
    if (!running) throw new Error('the executor has not been started');
    const { ended } = running;
    running.kill(signal);
    running = null;
    return ended;
  };
  return {
    workFolder,
    start,
    end,
    output: () => output.stdout,
    remove: async () => {
      if (running) await end('SIGKILL');
      await rm(workFolder, { recursive: true, force: true });
    },
  };
};

import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { waitUntil } from '../support/product.js';

/** The command-line clients on this machine. */
export const hasIacTools: readonly string[] = ['terraform', 'tofu'].filter(
  (program) =>
    spawnSync(program, ['version'], { env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() } }).status === 0,
);

const ESCAPE = String.fromCodePoint(27);

export type CommandOutput = { readonly code: number | null; readonly output: string };

/** A running command. */
export type WorkingDirectory = {
  /** Resolves when the output contains this text. */
  waitForOutput(text: string): Promise<void>;
  readonly end: Promise<CommandOutput>;
};

/** Returns the output without the colours, frames and line breaks of the clients. */
export const flat = (output: string): string =>
  output.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '').replaceAll(/[│╷╵\s]+/g, ' ');

/** A user at a terminal, with a home folder, a token and a trusted CA. */
export type CliUser = {
  /** Creates a folder with this configuration. Resolves to its path. */
  folder(main: string): Promise<string>;
  write(folder: string, file: string, content: string): Promise<void>;
  startIn(folder: string, ...args: readonly string[]): WorkingDirectory;
  /** Runs the program in the folder. Resolves when it has ended, whether it succeeded or failed. */
  attempt(folder: string, ...args: readonly string[]): Promise<CommandOutput>;
  /** Runs the program in the folder and expects it to succeed. Resolves to its output. */
  run(folder: string, ...args: readonly string[]): Promise<string>;
  leave(): Promise<void>;
};

export type PersonOptions = {
  readonly program: string;
  /** Host and port, such as `localhost:8443`. */
  readonly host: string;
  readonly token: string;
  readonly caFile: string;
};

export const createCliUser = async ({ program, host, token, caFile }: PersonOptions): Promise<CliUser> => {
  const home = await mkdtemp(join(tmpdir(), 'cadastre-cli-'));
  const rc = join(home, 'cli.rc');
  await writeFile(rc, 'disable_checkpoint = true\n');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TF_CLI_CONFIG_FILE: rc,
    TF_IN_AUTOMATION: '1',
    NO_COLOR: '1',
    CHECKPOINT_DISABLE: '1',
    SSL_CERT_FILE: caFile,
    // A shell cannot export a name with a colon, but the environment of a child process can contain one.
    [`TF_TOKEN_${host.replaceAll('.', '_').replaceAll('-', '__')}`]: token,
  };
  let folders = 0;
  const startIn = (folder: string, ...args: readonly string[]): WorkingDirectory => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const end = new Promise<CommandOutput>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, output }));
    });
    return { waitForOutput: (text) => waitUntil(() => output.includes(text), `${program} prints ${text}`), end };
  };
  const attempt = (folder: string, ...args: readonly string[]): Promise<CommandOutput> => startIn(folder, ...args).end;
  return {
    startIn,
    attempt,
    folder: async (main) => {
      const folder = join(home, `configuration-${(folders += 1)}`);
      await mkdir(folder);
      await writeFile(join(folder, 'main.tf'), main);
      return folder;
    },
    write: (folder, file, content) => writeFile(join(folder, file), content),
    run: async (folder, ...args) => {
      const result = await attempt(folder, ...args);
      expect({ args, code: result.code, output: result.code === 0 ? '' : result.output }).toEqual({
        args,
        code: 0,
        output: '',
      });
      return result.output;
    },
    leave: () => rm(home, { recursive: true, force: true }),
  };
};

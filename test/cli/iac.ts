import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { waitUntil } from '../support/product.js';

/** The command-line clients that this machine has. */
export const hasIacTools: readonly string[] = ['terraform', 'tofu'].filter(
  (program) =>
    spawnSync(program, ['version'], { env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() } }).status === 0,
);

const ESCAPE = String.fromCodePoint(27);

export type CommandOutput = { readonly code: number | null; readonly output: string };

/** The program at work. */
export type WorkingDirectory = {
  /** Resolves when it has said this. */
  waitForOutput(text: string): Promise<void>;
  readonly end: Promise<CommandOutput>;
};

/** What was said, without the colours, frames and line ends that the clients put into it. */
export const flat = (output: string): string =>
  output.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '').replaceAll(/[│╷╵\s]+/g, ' ');

/** A person at a terminal: a home of their own, a token, and a CA that they trust. */
export type CliUser = {
  /** A new folder with this configuration in it; resolves to its path. */
  folder(main: string): Promise<string>;
  write(folder: string, file: string, content: string): Promise<void>;
  startIn(folder: string, ...args: readonly string[]): WorkingDirectory;
  /** Runs the program there, whatever comes of it. */
  attempt(folder: string, ...args: readonly string[]): Promise<CommandOutput>;
  /** The same, and expects it to succeed; resolves to what it said. */
  run(folder: string, ...args: readonly string[]): Promise<string>;
  leave(): Promise<void>;
};

export type PersonOptions = {
  readonly program: string;
  /** `localhost:8443`. */
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
    // No shell can export a name with a colon in it; a child's environment can have one.
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
    return { waitForOutput: (text) => waitUntil(() => output.includes(text), `${program} says ${text}`), end };
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
      const said = await attempt(folder, ...args);
      expect({ args, code: said.code, output: said.code === 0 ? '' : said.output }).toEqual({
        args,
        code: 0,
        output: '',
      });
      return said.output;
    },
    leave: () => rm(home, { recursive: true, force: true }),
  };
};

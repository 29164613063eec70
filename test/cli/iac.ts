import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { waitUntil } from '../support/product.js';

/** The command-line clients on this machine. */
export const hasIacTools: readonly string[] = ['terraform', 'tofu'].filter(
  (program) =>
    spawnSync(program, ['version'], { env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() } }).status === 0,
);

/** Returns the version of a client on this machine. */
export const readToolVersion = (program: string): string => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: tmpdir() };
  const { stdout } = spawnSync(program, ['version', '-json'], { env, encoding: 'utf8' });
  return (JSON.parse(stdout) as { readonly terraform_version: string }).terraform_version;
};

const ESCAPE = String.fromCodePoint(27);

export type CommandOutput = { readonly code: number | null; readonly output: string };

/** A running command. */
type WorkingDirectory = {
  /** Resolves when the output contains this text. */
  waitForOutput(text: string): Promise<void>;
  /** Answers a question of the program. */
  type(line: string): void;
  /** Lets questions of the program fail. */
  endInput(): void;
  /** Ends the program at once. */
  kill(): void;
  /** Sends what Ctrl-C sends. */
  interrupt(): void;
  readonly end: Promise<CommandOutput>;
};

/** Returns the output without the colours, frames and line breaks of the clients. */
export const flat = (output: string): string =>
  output.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '').replaceAll(/[│╷╵\s]+/g, ' ');

/** A user at a terminal, with a home folder, a trusted CA, and a token unless the user logs in. */
export type CliUser = {
  readonly home: string;
  /** Resolves to the address that the program has opened in the browser since the last call. */
  openedAddress(): Promise<string>;
  /** Replaces the configuration of the command line. */
  configure(rc: string): Promise<void>;
  /** Creates a folder with this configuration. Resolves to its path. */
  folder(main: string): Promise<string>;
  write(folder: string, file: string, content: string): Promise<void>;
  startIn(folder: string, ...args: readonly string[]): WorkingDirectory;
  /** Starts a command that asks questions. */
  startInteractively(folder: string, ...args: readonly string[]): WorkingDirectory;
  /** Runs the program in the folder. Resolves when it has ended, whether it succeeded or failed. */
  attempt(folder: string, ...args: readonly string[]): Promise<CommandOutput>;
  /** Runs the program in the folder and expects it to succeed. Resolves to its output. */
  run(folder: string, ...args: readonly string[]): Promise<string>;
  leave(): Promise<void>;
};

type PersonOptions = {
  readonly program: string;
  /** Host and port, such as `localhost:8443`. */
  readonly host: string;
  readonly token: string | null;
  readonly caFile: string;
};

/** Puts a program on the path that records the address, like a browser. The programs look for `xdg-open` on Linux. */
const writeBrowser = async (home: string, opened: string): Promise<void> => {
  const bin = join(home, 'bin');
  await mkdir(bin);
  const script = `#!/bin/sh\nprintf '%s' "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`;
  await writeFile(join(bin, 'xdg-open'), script, { mode: 0o755 });
};

export const createCliUser = async ({ program, host, token, caFile }: PersonOptions): Promise<CliUser> => {
  const home = await mkdtemp(join(tmpdir(), 'cadastre-cli-'));
  // Both programs read this file. If a variable named another one, they would not read what `login` stores.
  const rc = join(home, '.terraformrc');
  await writeFile(rc, 'disable_checkpoint = true\n');
  // Without a check for updates, the program does not create the folder.
  await mkdir(join(home, '.terraform.d'));
  const opened = join(home, 'opened');
  await writeBrowser(home, opened);
  const env = {
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    TF_IN_AUTOMATION: '1',
    NO_COLOR: '1',
    CHECKPOINT_DISABLE: '1',
    SSL_CERT_FILE: caFile,
    // A shell cannot export a name with a colon, but the environment of a child process can contain one.
    ...(token === null ? {} : { [`TF_TOKEN_${host.replaceAll('.', '_').replaceAll('-', '__')}`]: token }),
  };
  let folders = 0;
  const startInteractively = (folder: string, ...args: readonly string[]): WorkingDirectory => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    // The program can end before it has read everything.
    child.stdin.on('error', () => undefined);
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
    return {
      waitForOutput: (text) => waitUntil(() => output.includes(text), `${program} prints ${text}`),
      type: (line) => void child.stdin.write(`${line}\n`),
      endInput: () => void child.stdin.end(),
      kill: () => void child.kill('SIGKILL'),
      interrupt: () => void child.kill('SIGINT'),
      end,
    };
  };
  const startIn = (folder: string, ...args: readonly string[]): WorkingDirectory => {
    const command = startInteractively(folder, ...args);
    // Other commands than `login` ask nothing.
    if (args[0] !== 'login') command.endInput();
    return command;
  };
  const attempt = (folder: string, ...args: readonly string[]): Promise<CommandOutput> => startIn(folder, ...args).end;
  return {
    home,
    openedAddress: async () => {
      await waitUntil(() => existsSync(opened), `${program} opens the browser`);
      const address = await readFile(opened, 'utf8');
      await rm(opened);
      return address.trim();
    },
    configure: (text) => writeFile(rc, `disable_checkpoint = true\n${text}`),
    startIn,
    startInteractively,
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

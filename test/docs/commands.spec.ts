import { spawn, type ChildProcess } from 'node:child_process';
import { copyFile, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { found } from '../cli/iac.js';
import { BUILD, ROOT } from '../support/folders.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/product.js';

// The commands of README and guide, as a reader pastes them: in the order of the page, in one shell, from the folder of the
// repository, against a server that `npm start` runs there. Only the port differs, so that this spec can run beside others.

const LONG = 600_000;

/** What the shell reports: the commands that failed, what they wrote to stderr, and the folder that it ends in. */
type Session = {
  readonly failed: readonly string[];
  readonly errors: string;
  readonly folder: string;
  readonly output: string;
};

const shellBlocks = (markdown: string): string[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string);

/** The part of a page from one heading up to another one. */
const between = (page: string, from: string, to: string): string => page.slice(page.indexOf(from), page.indexOf(to));

let folder: string;
let home: string;
let port: number;
let npm: ChildProcess;
let log = '';

const environment = () => ({ PATH: process.env['PATH'] ?? '', HOME: home, PORT: String(port), LOG_LEVEL: 'warn' });

/** Runs the blocks in one bash. A failed command does not end the shell, as it does not end a reader's. */
const paste = async (blocks: readonly string[]): Promise<Session> => {
  const script = [
    'set -E -o pipefail',
    `trap 'echo "FAILED: $BASH_COMMAND" >&2' ERR`,
    ...blocks.map((block) => block.replaceAll('localhost:8443', `localhost:${port}`)),
    'printf "\\nFOLDER: %s\\n" "$PWD"',
  ].join('\n');
  const child = spawn('bash', ['-s'], { cwd: folder, env: environment(), stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdin.end(script);
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  const failed = [...errors.matchAll(/^FAILED: (.*)$/gm)].map(([, command]) => command as string);
  return { failed, folder: /^FOLDER: (.*)$/m.exec(output)?.[1] ?? '', errors, output };
};

beforeAll(async () => {
  [port] = await freePorts();
  home = await mkdtemp(join(tmpdir(), 'cadastre-home-'));
  folder = await mkdtemp(join(tmpdir(), 'cadastre-repository-'));
  await cp(join(BUILD, 'dist'), join(folder, 'dist'), { recursive: true });
  await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  npm = spawn('npm', ['start'], { cwd: folder, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  npm.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  npm.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await until(() => {
    if (npm.exitCode !== null) throw new Error(`npm start ended:\n${log}`);
    return log.includes('admin-token');
  }, 'npm start says where the token is');
}, LONG);

afterAll(async () => {
  const ended = new Promise((resolve) => npm.once('close', resolve));
  process.kill(-(npm.pid as number), 'SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
}, LONG);

describe('the commands of the documentation', () => {
  it(
    'work in the README, from the first organization to its audit trail',
    async () => {
      const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
      const blocks = shellBlocks(between(readme, '## Point terraform at it', '## Consume the topics'));
      const withoutTerraform = (block: string): string => block.replaceAll(/^env .* terraform .*$/gm, '');
      if (found.length === 0) process.stderr.write('no terraform on PATH: its two commands were not run\n');
      const session = await paste(found.includes('terraform') ? blocks : blocks.map(withoutTerraform));
      expect(session).toEqual({ failed: [], errors: expect.any(String), folder, output: expect.any(String) });
      expect(session.output).toContain('"action":"create"');
      const organizationIn = (text: string): string | undefined => /organization = "(.*)"/.exec(text)?.[1];
      expect(organizationIn(log)).toBe(organizationIn(readme));
    },
    LONG,
  );

  it(
    'work in the guide, and only what it shows as refused is refused',
    async () => {
      const guide = await readFile(join(ROOT, 'docs/how-to/guide.md'), 'utf8');
      const session = await paste(shellBlocks(guide));
      // One pipeline shows a refusal: its curl fails, and with it the pipeline, which bash names by its last command.
      expect(session).toEqual({
        failed: [expect.stringMatching(/^curl /), "jq -r '.errors[].detail'"],
        errors: expect.any(String),
        folder,
        output: expect.any(String),
      });
      expect(session.output).toContain('reserved with overrides disabled');
      // The last command of the page: user tokens are switched off.
      expect(session.output).toMatch(/^false$/m);
    },
    LONG,
  );
});

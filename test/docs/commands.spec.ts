import { spawn, type ChildProcess } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasIacTools } from '../cli/iac.js';
import { BUILD, ROOT } from '../support/folders.js';
import { freePorts } from '../support/free-ports.js';
import { waitUntil } from '../support/product.js';

// Runs the commands of the documentation as a reader pastes them: in the order of the page, one shell for each page,
// from the folder of the repository, against a server that `npm start` runs there. Only the port differs, so that this
// spec can run beside others. These pages use the organization and the workspace of the tutorial.

const LONG = 600_000;

/** The result of a shell: the commands that failed, their standard error, and the last folder. */
type Session = {
  readonly failed: readonly string[];
  readonly errors: string;
  readonly folder: string;
  readonly output: string;
};

const shellBlocks = (markdown: string): string[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string);

/** Returns the part of a page from one heading up to another one. */
const between = (page: string, from: string, to: string): string => page.slice(page.indexOf(from), page.indexOf(to));

/** The pages whose commands work here. Those of operate.md need Docker or a Postgres of the reader's. */
const PAGES = globSync('docs/{how-to,reference}/*.md', { cwd: ROOT })
  .filter((path) => readFileSync(join(ROOT, path), 'utf8').includes('\nsource docs/api.sh\n'))
  .toSorted();

/**
 * Commands that fail as the page shows. Both parts of a failed pipeline fail, and bash names it by its last command.
 */
const EXPECTED_FAILURES: Readonly<Record<string, readonly unknown[]>> = {
  // The workspace of the page has no resources to assess.
  'docs/how-to/find-drift.md': [expect.stringMatching(/^curl /), "jq -r '.errors[0].detail // .data.id'"],
  // The provider of the page does not exist, so it cannot be enabled.
  'docs/how-to/sign-in-with-an-identity-provider.md': [
    expect.stringMatching(/^curl /),
    "jq '.errors // .data.attributes.enabled'",
  ],
  // The provider has no certificates yet.
  'docs/how-to/sign-in-with-saml.md': [
    expect.stringMatching(/^curl /),
    "jq -r '.errors[0].detail // .data.attributes.enabled'",
  ],
  'docs/how-to/tag-workspaces.md': [expect.stringMatching(/^curl /), "jq -r '.errors[].detail'"],
};

/** Texts in the output of pages whose commands succeed even if nothing arrives. */
const EXPECTED_OUTPUT: Readonly<Record<string, readonly string[]>> = {
  'docs/how-to/consult-services-with-run-tasks.md': [
    'ready: http://127.0.0.1:8090/',
    '{"enforcement-level":"mandatory","stage":"post_plan","stages":["post_plan"]}',
  ],
  'docs/how-to/follow-changes-live.md': ['ready {', '"type":"WorkspaceUnlocked"'],
  'docs/how-to/generate-a-client.md': ['is locked: true'],
  // The receiver has checked the signatures.
  'docs/how-to/notifications.md': [
    'workspace:locked hello Workspace Locked',
    '["workspace:unlocked","delivered",1,"200"]',
  ],
  // The export extends the checkpoint that was kept, and the monitor keeps the first one.
  'docs/how-to/verify-the-audit-trail.md': [
    'withheld:    0 personal values',
    'extends:     the checkpoint',
    'the first that is kept',
  ],
};

const hasTerraform = hasIacTools.includes('terraform');

/**
 * Returns the commands of a page without those that need terraform. Other commands create the workspace and the state
 * file that terraform would create.
 */
const withoutTerraform = (page: string): string =>
  page
    .replace(
      /^with_cadastre terraform .* init$/m,
      `api POST /organizations/acme/workspaces --data '{"data":{"type":"workspaces","attributes":{"name":"hello"}}}'`,
    )
    .replace(/^in_run apply plan$/m, `echo '{"version":4,"serial":1,"lineage":"l"}' > "$WORK/run/terraform.tfstate"`)
    .replaceAll(/^(?:hello (?:init|apply)|in_run |with_cadastre terraform|api .*current-state-version).*$/gm, '');

const readPage = async (path: string): Promise<string> => {
  const page = await readFile(join(ROOT, path), 'utf8');
  return hasTerraform ? page : withoutTerraform(page);
};

let folder: string;
let home: string;
let port: number;
let npm: ChildProcess;
let log = '';

/** The shell of a reader finds the Node that started npm, not the Node of the project. */
const readersPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith('node_modules/.bin'))
  .join(delimiter);

const environment = () => ({
  PATH: readersPath,
  HOME: home,
  PORT: String(port),
  LOG_LEVEL: 'warn',
  // Pages about runs show what waits for an executor.
  CADASTRE_EXECUTOR: 'off',
  // The receiver of docs/how-to/notifications.md, and the service of docs/how-to/consult-services-with-run-tasks.md.
  CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1',
  SERVER: `https://localhost:${port}`, // for docs/api.sh
});

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
  home = await mkdtemp(join(tmpdir(), 'cadastre-home-'));
  folder = await mkdtemp(join(tmpdir(), 'cadastre-repository-'));
  await cp(join(BUILD, 'dist'), join(folder, 'dist'), { recursive: true });
  await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['docs', 'examples']) await symlink(join(ROOT, name), join(folder, name));
  // Last, because another program of the tests could listen there meanwhile.
  [port] = await freePorts();
  npm = spawn('npm', ['start'], { cwd: folder, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  npm.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  npm.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await waitUntil(() => {
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
      if (!hasTerraform) process.stderr.write('no terraform on PATH: its commands were not run\n');
      const readme = between(await readPage('README.md'), '## Your first', '## What works');
      const organizationIn = (text: string): string | undefined => /organization = "(.*)"/.exec(text)?.[1];
      expect(organizationIn(log)).toBe(organizationIn(readme));
      // The tutorial creates `acme`, too.
      const session = await paste(shellBlocks(readme.replaceAll('acme', 'acme-readme')));
      expect(session).toMatchObject({ failed: [], folder });
      expect(session.output).toMatch(/organization\tcreate$/m);
    },
    LONG,
  );

  it(
    'work in the tutorial, from the first organization to the audit trail of a provider',
    async () => {
      const session = await paste(shellBlocks(await readPage('docs/tutorial/first-workspace.md')));
      expect(session).toMatchObject({ failed: [], folder });
      expect(session.output).toMatch(/registry_provider_version\tpublish$/m);
    },
    LONG,
  );

  it.each(PAGES)(
    'work in %s, except the refused ones that the page shows',
    async (path) => {
      const session = await paste(shellBlocks(await readPage(path)));
      expect(session).toMatchObject({ failed: EXPECTED_FAILURES[path] ?? [], folder });
      for (const text of EXPECTED_OUTPUT[path] ?? []) expect(session.output).toContain(text);
    },
    LONG,
  );
});

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { createVerifierKey, EMPTY_ROOT, formatVerifierKey, KEY_TYPES } from '#packages/trail-verifier';
import { ROOT } from './folders.js';
import { freePorts } from './free-ports.js';
import { runKeptProgram } from './kept-program.js';
import { waitUntil } from './product.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** The first call on a machine builds litewitness. */
export const INSTALL_LITEWITNESS_TIMEOUT_MS = 5 * 60_000;

const VERSION = 'v0.6.1';
const NAME = 'witness.example';
const ED25519_BYTES = 32;

export type Litewitness = {
  readonly url: string;
  /** The text of its verifier key for cosignatures. */
  readonly verifierKey: string;
  remove(): Promise<void>;
};

const install = async (): Promise<string> => {
  const go = (await run('bash', [join(ROOT, 'test/support/install-go')])).stdout.trim();
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cadastre', `torchwood-${VERSION}`);
  await mkdir(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-modcacherw' };
  await run(go, ['install', `filippo.io/torchwood/cmd/litewitness@${VERSION}`], { env, cwd: '/' });
  return join(folder, 'litewitness');
};

/** Starts a witness that knows these logs, by their origins and verifier keys. */
export const startLitewitness = async (logs: Readonly<Record<string, string>>): Promise<Litewitness> => {
  requirePrograms('go', 'ssh-add', 'ssh-agent', 'ssh-keygen');
  const program = await install();
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-litewitness-'));
  const [key, socket, db] = ['key', 'agent', 'db'].map((name) => join(folder, name)) as [string, string, string];
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const fingerprint = /SHA256:\S+/.exec((await run('ssh-keygen', ['-l', '-f', key])).stdout)?.[0] ?? '';
  const blob = Buffer.from((await readFile(`${key}.pub`, 'utf8')).split(' ')[1] ?? '', 'base64');
  const agent = await runKeptProgram('ssh-agent', ['-D', '-a', socket], join(folder, 'agent.log'));
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  const isAdded = () =>
    run('ssh-add', ['-q', key], { env }).then(
      () => true,
      () => false,
    );
  await waitUntil(isAdded, 'the agent has the key');
  addLogs(db, logs);
  const [port] = await freePorts();
  const listen = `127.0.0.1:${port}`;
  const args = ['-ssh-agent', socket, '-db', db, '-key', fingerprint, '-name', NAME, '-listen', listen];
  const witness = await runKeptProgram(program, args, join(folder, 'witness.log'));
  const url = `http://${listen}`;
  const isListening = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await waitUntil(isListening, 'litewitness listens');
  return {
    url,
    verifierKey: formatVerifierKey(createVerifierKey(NAME, blob.subarray(-ED25519_BYTES), KEY_TYPES.cosignature)),
    remove: async () => {
      await witness.kill();
      await agent.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Its own command for this does not build, so the test writes what the command would write. */
const addLogs = (file: string, logs: Readonly<Record<string, string>>): void => {
  const database = new DatabaseSync(file);
  database.exec('create table log (origin text primary key, tree_size integer not null, tree_hash text not null)');
  database.exec(
    'create table key (origin text not null, key text not null, foreign key (origin) references log (origin))',
  );
  for (const [origin, key] of Object.entries(logs)) {
    database.prepare('insert into log values (?, 0, ?)').run(origin, EMPTY_ROOT.toString('base64'));
    database.prepare('insert into key values (?, ?)').run(origin, key);
  }
  database.close();
};

// The built product in a process of its own with its own data folder, as users run it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuOf, cpuOfFamily } from './proc.js';

export const PROJECT = join(import.meta.dirname, '../..');
const START_TIMEOUT_MS = 60_000;
const QUIET_MS = 100;
const QUIET_TIMEOUT_MS = 5_000;

export const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
};

/** Copies `dist`, because every build replaces it as a whole. */
const copyOfTheBuild = async (from) => {
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-build-'));
  await cp(join(from, 'dist'), join(folder, 'dist'), { recursive: true });
  await copyFile(join(from, 'package.json'), join(folder, 'package.json'));
  await symlink(join(from, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

const isReady = async (url) => {
  const answer = await fetch(`${url}/readyz`).catch(() => null);
  await answer?.text();
  return answer?.status === 200;
};

export class Product {
  static async of(project = PROJECT) {
    const build = await copyOfTheBuild(project);
    const dataFolder = await mkdtemp(join(tmpdir(), 'cadastre-bench-'));
    return new Product(build, dataFolder, await freePort());
  }

  constructor(build, dataFolder, port) {
    this.build = build;
    this.dataFolder = dataFolder;
    this.url = `http://127.0.0.1:${port}`;
    this.encryptionKey = randomBytes(32);
    this.token = `bench.atlasv1.${randomBytes(24).toString('hex')}`;
    this.env = {
      // Not the whole environment: it may contain a DATABASE_URL or Kafka settings that are not meant for the bench.
      PATH: process.env.PATH,
      PORT: String(port),
      CADASTRE_DATA: dataFolder,
      CADASTRE_TLS: 'off',
      CADASTRE_ADMIN_TOKEN: this.token,
      CADASTRE_ENCRYPTION_KEY: this.encryptionKey.toString('base64'),
      LOG_LEVEL: 'warn',
      // The bench is one client that sends as much as it can.
      CADASTRE_RATE_LIMIT: 'off',
      CADASTRE_ADDRESS_RATE_LIMIT: 'off',
      CADASTRE_ACCESS_CHANGE_LIMIT: 'off',
      CADASTRE_MAX_TOKENS_PER_OWNER: 'off',
      CADASTRE_MAX_CONNECTIONS: '4000',
      CADASTRE_MAX_CONNECTIONS_PER_ADDRESS: '4000',
    };
    this.child = null;
    this.nodeOptions = [];
  }

  launch(args, env = {}) {
    const main = join(this.build, 'dist/apps/cadastre/src/main.js');
    const child = spawn(process.execPath, [...this.nodeOptions, main, ...args], {
      cwd: this.build,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.output = '';
    child.stdout.on('data', (chunk) => (child.output += chunk));
    return child;
  }

  /** Resolves when the product responds to requests, to the milliseconds that this took. */
  async start(env = {}) {
    const started = performance.now();
    this.child = this.launch(['serve'], env);
    while (!(await isReady(this.url))) {
      if (this.child.exitCode !== null) throw new Error(`cadastre ended before it was ready:\n${this.child.output}`);
      if (performance.now() - started > START_TIMEOUT_MS) throw new Error('cadastre did not become ready in time');
      await delay(10);
    }
    return performance.now() - started;
  }

  async stop() {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  /** Runs a command such as `rebuild`. Returns its process and a promise of its end. */
  run(args) {
    const child = this.launch(args);
    const ended = once(child, 'exit').then(([code]) => {
      if (code !== 0) throw new Error(`cadastre ${args.join(' ')} ended with ${code}:\n${child.output}`);
      return child.output;
    });
    return { child, ended };
  }

  get pid() {
    return this.child.pid;
  }

  get postmaster() {
    return Number(readFileSync(join(this.dataFolder, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** Returns the CPU ms of the server and of its Postgres. */
  cpu() {
    return { node: cpuOf(this.pid), postgres: cpuOfFamily(this.postmaster) };
  }

  /** Like `cpu`, after followers have caught up: their work is part of the cost of a write. */
  async cpuWhenQuiet() {
    const deadline = performance.now() + QUIET_TIMEOUT_MS;
    let before = this.cpu();
    for (;;) {
      await delay(QUIET_MS);
      const current = this.cpu();
      const used = current.node + current.postgres - before.node - before.postgres;
      if (used <= 10 || performance.now() > deadline) return current;
      before = current;
    }
  }

  databaseUrl() {
    return readFile(join(this.dataFolder, 'database-url'), 'utf8');
  }

  async request(method, path, body, token = this.token) {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} returned ${answer.status}: ${text}`);
    return text;
  }

  /** Uploads a file to a link of a document, which may have the name of another host. */
  async upload(link, bytes) {
    const { pathname, search } = new URL(link);
    const answer = await fetch(`${this.url}${pathname}${search}`, { method: 'PUT', body: bytes });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`PUT ${pathname} returned ${answer.status}: ${text}`);
  }

  /** Runs `cadastre seed` beside the server or alone. Options: `{ workspaces: 100 }` is `--workspaces 100`. */
  async seed(options) {
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    return this.run(['seed', ...args]).ended;
  }

  async remove() {
    await this.stop();
    await rm(this.dataFolder, { recursive: true, force: true });
    await rm(this.build, { recursive: true, force: true });
  }
}

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openPublisher, type RunningPublisher } from '../../apps/publisher/src/publisher.js';
import { unmigratedDatabase, type TestDatabase } from '../support/database.js';
import { ROOT } from '../support/folders.js';
import { freePorts } from '../support/free-ports.js';
import { startKafka, type TestKafka } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { waitUntil } from '../support/product.js';
import { expectStatus } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const run = promisify(execFile);

/** The examples in a folder where the package is installed. */
let folder: string;
let kafka: TestKafka;
let server: TestServer;
let publisher: RunningPublisher | null;
let database: TestDatabase;
let program: ChildProcess | null = null;
let output = '';

/** Builds the package as `npm run build:consumer` does, and installs it. */
const installPackage = async (): Promise<void> => {
  const modules = join(folder, 'node_modules');
  const target = join(modules, '@cadastre/consumer');
  await mkdir(target, { recursive: true });
  const node = process.execPath;
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(node, [tsc, '--project', 'libs/consumer', '--outDir', target], { cwd: ROOT });
  await run(node, ['libs/consumer/package.build.ts', target], { cwd: ROOT });
  for (const name of ['kafkajs', 'pg']) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  await cp(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-examples-'));
  [kafka] = await Promise.all([startKafka(), installPackage()]);
  server = await startTestServer({ env: { KAFKA_BROKERS: kafka.brokers.join(',') }, followers: true });
  publisher = openPublisher(server.runtime);
  const organization = { type: 'organizations', attributes: { name: 'acme', email: 'ops@example.com' } };
  expectStatus(await server.post('/api/v2/organizations', { data: organization }), 201);
  await waitForTopics(kafka.brokers, ['cadastre.workspaces', 'cadastre.workspaces.state']);
});

afterAll(async () => {
  await publisher?.stop();
  await server?.close();
  await kafka?.stop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  database = await unmigratedDatabase();
});

afterEach(async () => {
  await stop('SIGTERM');
  await database.drop();
});

const createWorkspace = async (name: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const data = { type: 'workspaces', attributes: { name, ...more } };
  const { body } = expectStatus(await server.post('/api/v2/organizations/acme/workspaces', { data }), 201);
  return body.data.id as string;
};

/** What each example prints when it is ready. */
const READY: Readonly<Record<string, string>> = {
  'lock-notices': 'waiting for locks',
  'workspace-search': '/workspaces?q=',
};

/** Starts an example, and resolves when it is ready. */
const start = async (example: string, env: Readonly<Record<string, string>>): Promise<void> => {
  output = '';
  const brokers = kafka.brokers.join(',');
  program = spawn(process.execPath, ['main.ts'], {
    cwd: join(folder, 'examples', example),
    env: { PATH: process.env['PATH'], KAFKA_BROKERS: brokers, DATABASE_URL: database.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitUntil(() => {
    if (program?.exitCode !== null) throw new Error(`${example} has ended:\n${output}`);
    return output.includes(READY[example] ?? '');
  }, `${example} has started`);
};

const stop = async (signal: NodeJS.Signals): Promise<void> => {
  const stopping = program;
  program = null;
  if (stopping === null || stopping.exitCode !== null) return;
  const ended = once(stopping, 'exit');
  stopping.kill(signal);
  expect(await ended).toEqual(signal === 'SIGTERM' ? [0, null] : [null, signal]);
};

describe('lock-notices', () => {
  it('posts each lock once with the name of the workspace, also after kill -9 and while the chat is away', async () => {
    const notices = new Map<string, string>();
    let isAway = false;
    const chat = createServer((request, response) => {
      void json(request).then((body) => {
        if (!isAway) notices.set(String(request.headers['idempotency-key']), (body as { text: string }).text);
        response.writeHead(isAway ? 503 : 200).end();
      });
    });
    await once(chat.listen(0, '127.0.0.1'), 'listening');
    const CHAT_WEBHOOK_URL = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/`;
    const id = await createWorkspace('network');
    await start('lock-notices', { CHAT_WEBHOOK_URL });
    const lock = (reason: string) => server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason });
    const unlock = () => server.post(`/api/v2/workspaces/${id}/actions/unlock`);

    await lock('an audit');
    await waitUntil(() => notices.size >= 1, 'the first notice');
    await stop('SIGKILL');
    await server.patch(`/api/v2/workspaces/${id}`, { data: { type: 'workspaces', attributes: { name: 'backbone' } } });
    await unlock();
    isAway = true;
    await start('lock-notices', { CHAT_WEBHOOK_URL, RETRY_SECONDS: '1' });
    await waitUntil(
      () => output.includes('is a dead letter: the chat responded with 503'),
      'a notice is a dead letter',
    );
    isAway = false;
    await lock('a repair');
    await waitUntil(() => notices.size >= 3, 'all notices');
    expect([...notices.values()]).toEqual([
      'network was locked by admin: an audit',
      'backbone was unlocked',
      'backbone was locked by admin: a repair',
    ]);
    chat.close();
  });
});

describe('workspace-search', () => {
  it('finds workspaces by words, and follows changes and deletions', async () => {
    const id = await createWorkspace('network-prod', { description: 'all routers' });
    const [port] = await freePorts();
    await start('workspace-search', { PORT: String(port) });
    const search = async (words: string): Promise<any> => {
      const response = await fetch(`http://127.0.0.1:${port}/workspaces?q=${words}`);
      return [response.status, await response.json()];
    };
    const isFound = async (words: string) => (await search(words))[1].length === 1;
    await waitUntil(() => isFound('routers'), 'the workspace is found');
    expect(await search('network')).toEqual([
      200,
      [expect.objectContaining({ id, name: 'network-prod', description: 'all routers', tags: [], locked: false })],
    ]);
    expect(await search('')).toEqual([400, { error: 'q has 1 to 200 characters' }]);
    const attributes = { description: 'all switches' };
    await server.patch(`/api/v2/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
    await waitUntil(() => isFound('switches'), 'the new description is found');
    expect(await search('routers')).toEqual([200, []]);
    await server.delete(`/api/v2/workspaces/${id}`);
    await waitUntil(async () => !(await isFound('switches')), 'the deleted workspace is gone');
  });
});

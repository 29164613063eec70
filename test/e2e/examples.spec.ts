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
import { createKafkaClient } from '#storage/message-log';
import { buildGoExample, installPythonExample } from '../support/example-programs.js';
import { readTopic, sendToTopic, startKafka, type TestKafka, type TopicMessage } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { waitUntil } from '../support/product.js';
import { expectStatus } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { quiet } from '../support/silent-logger.js';

const run = promisify(execFile);

/** On a new machine, the libraries are downloaded, and those of Go are compiled. */
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** The examples in a folder where the package is installed. */
let folder: string;
let kafka: TestKafka;
let server: TestServer;
let publisher: RunningPublisher | null;
let database: TestDatabase;
let program: ChildProcess | null = null;
let output = '';
/** The programs that run the examples in Python and Go. */
let python = '';
let goNotices = '';

/** Builds the package as `npm run build:consumer` does, and installs it. */
const installPackage = async (): Promise<void> => {
  const modules = join(folder, 'node_modules');
  const target = join(modules, '@cadastre/consumer');
  await mkdir(target, { recursive: true });
  const node = process.execPath;
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(node, [tsc, '--project', 'libs/packages/consumer', '--outDir', target], { cwd: ROOT });
  await run(node, ['libs/packages/package.build.ts', 'consumer', target], { cwd: ROOT });
  await run(node, ['libs/packages/consumer/entry.build.ts', target], { cwd: ROOT });
  for (const name of ['kafkajs', 'pg']) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  await cp(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-examples-'));
  [kafka, python, goNotices] = await Promise.all([
    startKafka(),
    installPythonExample(),
    buildGoExample(),
    installPackage(),
  ]);
  server = await startTestServer({ env: { KAFKA_BROKERS: kafka.brokers.join(',') }, followers: true });
  publisher = openPublisher(server.runtime);
  const organization = { type: 'organizations', attributes: { name: 'acme', email: 'ops@example.com' } };
  expectStatus(await server.post('/api/v2/organizations', { data: organization }), 201);
  await waitForTopics(kafka.brokers, ['cadastre.workspaces', 'cadastre.workspaces.state']);
}, INSTALL_TIMEOUT_MS);

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

/** How each example is started, and what it prints when it is ready. */
const EXAMPLES = {
  'lock-notices': { command: () => [process.execPath, 'main.ts'], ready: 'waiting for locks' },
  'workspace-search': { command: () => [process.execPath, 'main.ts'], ready: '/workspaces?q=' },
  'python-inventory': { command: () => [python, 'inventory.py', 'follow'], ready: 'following locks' },
  'go-notices': { command: () => [goNotices], ready: 'ready: ' },
} as const;

type ExampleName = keyof typeof EXAMPLES;
type Environment = Readonly<Record<string, string>>;

const launch = (example: ExampleName, env: Environment): ChildProcess => {
  output = '';
  const [command = '', ...args] = EXAMPLES[example].command();
  const child = spawn(command, args, {
    cwd: join(folder, 'examples', example),
    env: { PATH: process.env['PATH'], KAFKA_BROKERS: kafka.brokers.join(','), DATABASE_URL: database.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return child;
};

/** Starts an example, and resolves when it is ready. */
const start = async (example: ExampleName, env: Environment): Promise<void> => {
  program = launch(example, env);
  await waitUntil(() => {
    if (program?.exitCode !== null) throw new Error(`${example} has ended:\n${output}`);
    return output.includes(EXAMPLES[example].ready);
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
  it('posts each lock once with the name of the workspace, also after kill -9 and while the chat is unavailable', async () => {
    const notices = new Map<string, string>();
    let isUnavailable = false;
    const chat = createServer((request, response) => {
      void json(request).then((body) => {
        if (!isUnavailable) notices.set(String(request.headers['idempotency-key']), (body as { text: string }).text);
        response.writeHead(isUnavailable ? 503 : 200).end();
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
    // The package patches kafkajs, and no event is missing.
    expect(output).not.toMatch(/TimeoutNegativeWarning|Gaps since/);
    await stop('SIGKILL');
    await server.patch(`/api/v2/workspaces/${id}`, { data: { type: 'workspaces', attributes: { name: 'backbone' } } });
    await unlock();
    isUnavailable = true;
    await start('lock-notices', { CHAT_WEBHOOK_URL, RETRY_SECONDS: '1' });
    await waitUntil(
      () => output.includes('is a dead letter: the chat responded with 503'),
      'a notice is a dead letter',
    );
    isUnavailable = false;
    await lock('a repair');
    await waitUntil(() => notices.size >= 3, 'all notices');
    expect([...notices.values()]).toEqual([
      'network was locked by admin: an audit',
      'backbone was unlocked',
      'backbone was locked by admin: a repair',
    ]);
    chat.close();
  });

  it.each(['1m', '', '0', '86401'])('refuses "%s" as the pause between retries', async (RETRY_SECONDS) => {
    expect(await runToEnd('lock-notices', { CHAT_WEBHOOK_URL: 'http://localhost/', RETRY_SECONDS })).toBe(1);
    expect(output).toContain(`RETRY_SECONDS: must be a whole number from 1 to 86400, got "${RETRY_SECONDS}"`);
  });
});

/** A port without a server. */
const NOBODY = '127.0.0.1:1';

describe('an example that cannot start', () => {
  const CHAT_WEBHOOK_URL = 'http://localhost/';

  it.each<readonly [ExampleName, Environment, string]>([
    ['lock-notices', { CHAT_WEBHOOK_URL: '' }, 'lock-notices: CHAT_WEBHOOK_URL: must be the URL that accepts'],
    [
      'lock-notices',
      { CHAT_WEBHOOK_URL, DATABASE_URL: '' },
      'lock-notices: DATABASE_URL: must be the URL of a Postgres',
    ],
    [
      'lock-notices',
      { CHAT_WEBHOOK_URL, KAFKA_BROKERS: NOBODY },
      `lock-notices: Connection error: connect ECONNREFUSED`,
    ],
    ['workspace-search', { DATABASE_URL: '' }, 'workspace-search: DATABASE_URL: must be the URL of a Postgres'],
    [
      'workspace-search',
      { DATABASE_URL: `postgres://${NOBODY}/search` },
      'workspace-search: Postgres at DATABASE_URL: connect',
    ],
    ['workspace-search', { PORT: 'http' }, 'workspace-search: PORT: must be a number from 0 to 65535, got "http"'],
    ['python-inventory', { INVENTORY_FILE: '/nowhere/inventory.db' }, 'inventory: unable to open database file'],
    ['go-notices', { PORT: '99999' }, 'go-notices: listen tcp: address 99999: invalid port'],
  ])('%s with %j prints one line that names the reason', async (example, env, line) => {
    expect(await runToEnd(example, env)).toBe(1);
    expect(output.trim().split('\n')).toEqual([expect.stringContaining(line)]);
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

const action = async (id: string, name: 'lock' | 'unlock', reason = ''): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/${name}`, { reason }), 200);
};

/** Returns the locks of the organization that the API shows, by workspace. */
const readLocks = async (): Promise<readonly any[]> => {
  const { body } = expectStatus(await server.get('/api/v2/organizations/acme/locks'), 200);
  return body.data.toSorted((a: any, b: any) =>
    a.attributes['workspace-name'].localeCompare(b.attributes['workspace-name']),
  );
};

/** Returns the messages of a topic, as soon as one of a type and key is among them. */
const readUpTo = (topic: string, type: string, key: string): Promise<readonly TopicMessage[]> =>
  readTopic(kafka.brokers, [topic], (all) =>
    all.some((message) => message.key === key && message.headers['ce_type'] === type),
  );

/** Sends copies of messages to a new topic, with other types. */
const sendCopies = async (
  messages: readonly Pick<TopicMessage, 'key' | 'value' | 'headers'>[],
  copy: string,
  types: Environment,
): Promise<void> => {
  const admin = createKafkaClient({ brokers: kafka.brokers, clientId: 'test-service' }, quiet).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: copy, numPartitions: 1 }], waitForLeaders: true });
  await admin.disconnect();
  const copies = messages.map(({ key, value, headers }) => {
    const type = headers['ce_type'] ?? '';
    return { key, value, headers: { ...headers, ce_type: types[type] ?? type } };
  });
  await sendToTopic(kafka.brokers, copy, copies);
};

/** Runs an example that ends by itself. Returns its exit code. */
const runToEnd = async (example: ExampleName, env: Environment): Promise<unknown> => {
  program = launch(example, env);
  const [code] = (await once(program, 'close')) as [number | null];
  return code;
};

describe('python-inventory', () => {
  const list = async (INVENTORY_FILE: string): Promise<any[]> => {
    const script = join(folder, 'examples/python-inventory/inventory.py');
    const { stdout } = await run(python, [script, 'list'], { env: { INVENTORY_FILE } });
    return JSON.parse(stdout);
  };

  it('lists the locks of the API and counts each once, also after kill -9 and a replay', async () => {
    const INVENTORY_FILE = join(folder, 'inventory.db');
    const id = await createWorkspace('storage');
    const deleted = await createWorkspace('storage-old');
    await action(deleted, 'lock', 'its end');
    for (let kills = 0; kills < 3; kills += 1) {
      await start('python-inventory', { INVENTORY_FILE });
      for (let cycle = 0; cycle < 5; cycle += 1) {
        await action(id, 'lock', `change ${kills}.${cycle}`);
        await action(id, 'unlock');
      }
      // While the program handles these events.
      await stop('SIGKILL');
    }
    expectStatus(await server.delete(`/api/v2/workspaces/${deleted}`), 204);
    const messages = await readUpTo('cadastre.workspaces', 'cadastre.WorkspaceDeleted.v2', deleted);
    const replayed = messages.map(({ key, value, headers }) => ({
      key,
      value,
      headers: { ...headers, 'cadastre-replay': 'true' },
    }));
    await sendToTopic(kafka.brokers, 'cadastre.workspaces', replayed);
    expectStatus(await server.post(`/api/v2/recoverable-items/${deleted}/actions/recover`, {}), 200);
    await action(deleted, 'lock', 'its recovery');
    await action(id, 'lock', 'an audit');
    await start('python-inventory', { INVENTORY_FILE });
    const find = async (text: string) => (await list(INVENTORY_FILE)).find(({ reason }) => reason === text);
    const areListed = async () => (await find('an audit')) !== undefined && (await find('its recovery')) !== undefined;
    await waitUntil(areListed, 'the last lock of each workspace is listed');
    expect(await find('an audit')).toMatchObject({ workspace: id, times_locked: 16 });
    expect(await find('its recovery')).toMatchObject({ workspace: deleted, name: 'storage-old', times_locked: 1 });
    const locks = (await list(INVENTORY_FILE)).toSorted((a, b) => a.name.localeCompare(b.name));
    expect(locks.map(({ workspace, name, holder, reason, since }) => [workspace, name, holder, reason, since])).toEqual(
      (await readLocks()).map(({ attributes, relationships }) => [
        relationships.workspace.data.id,
        attributes['workspace-name'],
        relationships['locked-by'].data.id,
        attributes.reason,
        attributes['locked-at'],
      ]),
    );
  });

  it('skips types of events that it does not know, and refuses an unknown schema version', async () => {
    const INVENTORY_FILE = join(folder, 'refusal.db');
    const id = await createWorkspace('compute');
    await action(id, 'lock');
    const messages = await readUpTo('cadastre.workspaces', 'cadastre.WorkspaceLocked.v1', id);
    await sendCopies(messages, 'python.workspaces', {
      'cadastre.WorkspaceCreated.v1': 'cadastre.WorkspaceInvented.v9',
      'cadastre.WorkspaceLocked.v1': 'cadastre.WorkspaceLocked.v2',
    });
    expect(await runToEnd('python-inventory', { INVENTORY_FILE, TOPIC_PREFIX: 'python' })).toBe(1);
    expect(output).toContain('WorkspaceLocked has schema version 2, and this program reads [1]. Update the program');
    expect(await list(INVENTORY_FILE)).toEqual([]);
  });

  it.each([
    ['stream', { ce_stream: undefined }, '{}', 'has no header ce_stream. Does the publisher run with'],
    ['type', { ce_type: 'lamp.Lit.v1' }, '{}', "ce_type must be cadastre.NAME.vN, got 'lamp.Lit.v1'"],
    ['version', { ce_version: 'two' }, '{}', "cannot be decoded: invalid literal for int() with base 10: 'two'"],
    ['json', {}, '{', 'record 0 of wrong-json.workspaces/0 cannot be decoded: Expecting property name'],
    ['list', {}, '[]', 'cannot be decoded: the value must be a JSON object'],
  ])('refuses a record with a wrong %s', async (what, wrong, value, message) => {
    const headers = {
      ce_type: 'cadastre.WorkspaceLocked.v1',
      ce_stream: 'ws-1',
      ce_version: '1',
      ce_time: 'now',
      ...wrong,
    };
    const present = Object.entries(headers).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
    const messages = [{ key: 'ws-1', value, headers: Object.fromEntries(present) as Record<string, string> }];
    await sendCopies(messages, `wrong-${what}.workspaces`, {});
    const INVENTORY_FILE = join(folder, `wrong-${what}.db`);
    expect(await runToEnd('python-inventory', { INVENTORY_FILE, TOPIC_PREFIX: `wrong-${what}` })).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toContain('Traceback');
  });
});

describe('go-notices', () => {
  it('serves the locked workspaces of the API, and removes a deleted one', async () => {
    const [port] = await freePorts();
    const serve = () => start('go-notices', { PORT: String(port) });
    const readLocked = async (): Promise<any> => (await fetch(`http://127.0.0.1:${port}/locked`)).json();
    const readNames = async (): Promise<string[]> => (await readLocked()).map(({ name }: { name: string }) => name);
    const expectLikeApi = async () => {
      expect(
        (await readLocked()).map((each: any) => [each.id, each.name, each.organization, each['locked-by']]),
      ).toEqual(
        (await readLocks()).map(({ attributes, relationships }) => [
          relationships.workspace.data.id,
          attributes['workspace-name'],
          'acme',
          relationships['locked-by'].data,
        ]),
      );
    };
    const [first, second] = [await createWorkspace('routers'), await createWorkspace('switches')];
    await action(first, 'lock');
    await serve();
    await action(second, 'lock');
    await waitUntil(() => output.includes('acme/switches was locked'), 'a notice of the lock');
    await waitUntil(async () => (await readNames()).includes('routers'), 'the earlier lock is served');
    await expectLikeApi();
    await action(first, 'unlock');
    await waitUntil(async () => !(await readNames()).includes('routers'), 'the unlocked workspace is gone');
    // Its last document says that it is locked, and a message without a value follows.
    expectStatus(await server.delete(`/api/v2/workspaces/${second}`), 204);
    await waitUntil(async () => !(await readNames()).includes('switches'), 'the deleted workspace is gone');
    await action(first, 'lock');
    await waitUntil(async () => (await readNames()).includes('routers'), 'the second lock is served');
    await stop('SIGKILL');
    await serve();
    await expectLikeApi();
  });

  it('refuses a document with an unknown schema version', async () => {
    const type = 'cadastre.state.workspaces.v1';
    const messages = await readUpTo('cadastre.workspaces.state', type, await createWorkspace('firewalls'));
    await sendCopies(messages, 'go.workspaces.state', { [type]: 'cadastre.state.workspaces.v2' });
    const [port] = await freePorts();
    expect(await runToEnd('go-notices', { TOPIC_PREFIX: 'go', PORT: String(port) })).toBe(1);
    expect(output).toContain('the document has schema version 2, and this program reads 1: update it');
  });
});

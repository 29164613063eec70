import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { listChanges, shorten, StreamReader, type ReceivedMessage } from '../support/live-streams.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeOrganization, resource } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';

const WORKERS = 2;
const WORKSPACES = '/api/v2/organizations/acme/workspaces';

let product: Product;
let api: ApiTestClient;
const opened: StreamReader[] = [];

beforeAll(async () => {
  product = await launchProduct({ CADASTRE_WORKERS: String(WORKERS) });
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
});
afterEach(() => {
  for (const reader of opened.splice(0)) reader.close();
});
afterAll(() => product?.remove());

/** Returns the parent of a process. The name before it is in parentheses and may contain any character. */
const parentOf = (pid: number): number => Number(/^.*\) \S (\d+)/s.exec(contentOf(`/proc/${pid}/stat`))?.[1]);

const listWorkers = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === product.serverPid())
    .filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes('worker.js'));

/** Opens a stream. Tries again while the server does not respond. */
const open = async (lastEventId: string | null = null): Promise<StreamReader> => {
  let reader: StreamReader | null = null;
  await waitUntil(async () => {
    reader = await StreamReader.open(product, 'acme', product.adminToken, { lastEventId }).catch(() => null);
    return reader !== null;
  }, 'the stream is open');
  const openReader = reader as unknown as StreamReader;
  opened.push(openReader);
  return openReader;
};

/** Creates a workspace. Tries again while the server does not respond. Returns the id. */
const create = async (name: string): Promise<string> => {
  let id = '';
  await waitUntil(async () => {
    const created = await api.post(WORKSPACES, resource('workspaces', { name })).catch(() => null);
    // The name is taken if the server was killed after the commit and before its response.
    const response = created?.status === 422 ? await api.get(`${WORKSPACES}/${name}`).catch(() => null) : created;
    id = response?.body.data?.id ?? '';
    return id !== '';
  }, `${name} is created`);
  return id;
};

/** A client that connects again after its last message whenever its stream breaks. */
const followUntil = async (
  start: StreamReader,
  isComplete: (messages: readonly ReceivedMessage[]) => boolean,
): Promise<{ readonly messages: readonly ReceivedMessage[]; readonly breaks: number }> => {
  const before: ReceivedMessage[] = [];
  let breaks = 0;
  for (let reader = start; ; reader = await open(reader.lastEventId)) {
    const isDone = await reader
      .until(({ messages }) => isComplete([...before, ...messages]))
      .then(
        () => true,
        () => false,
      );
    before.push(...reader.messages);
    if (isDone) return { messages: before, breaks };
    breaks += 1;
  }
};

/** Creates workspaces while the fault happens, and compares what a client receives with all messages since its start. */
const expectNoGap = async (prefix: string, cause: () => Promise<void>): Promise<void> => {
  const reader = await open();
  await reader.until(({ messages }) => messages.length > 0);
  const start = reader.lastEventId;
  const ids: string[] = [];
  let last: string | null = null;
  const following = followUntil(reader, (messages) => messages.some(({ data }) => data.resource?.id === last));
  for (let n = 0; n < 5; n += 1) ids.push(await create(`${prefix}-before-${n}`));
  const causing = cause();
  for (let n = 0; n < 5; n += 1) ids.push(await create(`${prefix}-meanwhile-${n}`));
  await causing;
  for (let n = 0; n < 5; n += 1) ids.push(await create(`${prefix}-after-${n}`));
  last = await create(`${prefix}-last`);
  ids.push(last);
  // Wakes the client if it received the last message before `last` was known.
  await create(`${prefix}-end`);
  const { messages, breaks } = await following;
  expect(breaks).toBeGreaterThan(0);
  const received = listChanges({ messages: [...messages] });
  expect(received.slice(0, ids.length)).toEqual(ids.map((id) => `created workspaces ${id} WorkspaceCreated`));
  const again = await open(start);
  await again.until((all) => all.messages.length >= received.length);
  expect(again.messages.slice(0, received.length).map(shorten)).toEqual(received);
};

describe('a client that resumes', () => {
  it('misses nothing and gets nothing twice when all workers are killed', () =>
    expectNoGap('workers', async () => {
      for (const worker of listWorkers()) process.kill(worker, 'SIGKILL');
    }));

  it('misses nothing and gets nothing twice when the server is killed and starts again', () =>
    expectNoGap('server', async () => {
      await product.kill();
      await product.start();
    }));
});

describe('a server that stops', () => {
  it('ends the streams of all workers with the pause before the next attempt', async () => {
    const readers = await Promise.all(Array.from({ length: 4 * WORKERS }, () => open()));
    for (const reader of readers) await reader.until(({ messages }) => messages.length > 0);
    expect((await api.get('/metrics')).text).toMatch(/^cadastre_live_streams_open 8$/m);
    const ended = product.stop();
    for (const reader of readers) {
      expect(await reader.endReason()).toBe('stopping');
      expect(reader.retryMs).toBeGreaterThanOrEqual(1_000);
    }
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: 'Stopping …\n' });
  });
});

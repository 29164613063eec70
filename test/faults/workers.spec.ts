import { readdirSync } from 'node:fs';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendSignal } from '../../libs/platform/host/machine/signals.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { RawConnection } from '../support/raw-connection.js';
import { makeOrganization, resource } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';

const WORKERS = 2;
const WORKSPACES = '/api/v2/organizations/acme/workspaces';

let product: Product;

beforeAll(async () => {
  product = await launchProduct({ CADASTRE_WORKERS: String(WORKERS), LOG_LEVEL: 'info' });
  await startWithAllWorkers();
  await makeOrganization(createApiTestClient(product.url, product.adminToken), 'acme');
});
afterAll(() => product?.remove());

type LogLine = { readonly pid: number; readonly msg: string; readonly route?: string };

const readLog = (): readonly LogLine[] =>
  product
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);

const untilWorkersHaveStarted = (count: number): Promise<void> =>
  waitUntil(
    () => readLog().filter(({ msg }) => msg === 'worker serves requests').length === count,
    `${count} workers have started`,
  );

const startWithAllWorkers = async (): Promise<void> => {
  await product.start();
  await untilWorkersHaveStarted(WORKERS);
};

/** Returns the parent of a process. The name before it is in parentheses and may contain any character. */
const parentOf = (pid: number): number => Number(/^.*\) \S (\d+)/s.exec(contentOf(`/proc/${pid}/stat`))?.[1]);

const listWorkers = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === product.serverPid())
    .filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes('worker.js'));

const hasEnded = (pid: number): boolean => !sendSignal(pid, 0) || contentOf(`/proc/${pid}/cmdline`) === '';

type Reply = { readonly status: number | undefined; readonly text: string };

/** Sends a request on a new connection. Returns null if the connection breaks before the response. */
const send = (method: string, path: string, body?: object): Promise<Reply | null> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${product.adminToken}`, 'content-type': 'application/vnd.api+json' };
    const request = http.request(`${product.url}${path}`, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('close', () => resolve(response.complete ? { status: response.statusCode, text } : null));
    });
    request.once('error', () => resolve(null));
    request.end(body && JSON.stringify(body));
  });

const statusOf = async (...request: Parameters<typeof send>): Promise<number | undefined> =>
  (await send(...request))?.status;

const create = (name: string): Promise<number | undefined> =>
  statusOf('POST', WORKSPACES, resource('workspaces', { name }));

const readDescription = async (name: string): Promise<unknown> => {
  const reply = await send('GET', `${WORKSPACES}/${name}`);
  return (JSON.parse(reply?.text ?? '') as { data: { attributes: { description: unknown } } }).data.attributes
    .description;
};

describe('a server with workers', () => {
  it('shows a write in the next read through any worker, and in the metrics of any worker', async () => {
    expect(await create('shared')).toBe(201);
    for (let n = 0; n < 10; n += 1) {
      const description = `change ${n}`;
      expect(await statusOf('PATCH', `${WORKSPACES}/shared`, resource('workspaces', { description }))).toBe(200);
      for (let read = 0; read < 2 * WORKERS; read += 1) expect(await readDescription('shared')).toBe(description);
    }
    await waitUntil(
      () => readLog().filter(({ route }) => route?.endsWith('/workspaces/:name')).length === 50,
      'all requests are logged',
    );
    const pids = new Set(readLog().flatMap(({ route, pid }) => (route?.endsWith('/workspaces/:name') ? [pid] : [])));
    expect([...pids].toSorted()).toEqual([...listWorkers()].toSorted());

    const metrics = (await send('GET', '/metrics'))?.text;
    expect(metrics).toMatch(/^cadastre_http_request_duration_seconds_count\{.*method="PATCH".*:name".*\} 10$/m);
    expect(metrics).toMatch(/^cadastre_document_cache_requests_total\{result="hit"\} [1-9]/m);
    expect(metrics).toMatch(/^cadastre_follower_lag_seconds\{follower="audit_trail"\}/m);
  });

  it('loses no acknowledged write if a worker is killed, and replaces the worker', async () => {
    const acknowledged: string[] = [];
    let enough = 20;
    const write = async (client: number): Promise<void> => {
      for (let n = 0; acknowledged.length < enough; n += 1) {
        const name = `w-${client}-${n}`;
        if ((await create(name)) === 201) acknowledged.push(name);
      }
    };
    const [victim] = listWorkers();
    const writing = Promise.all([0, 1, 2, 3].map(write));
    await waitUntil(() => acknowledged.length >= 5, 'some writes are acknowledged');
    process.kill(victim as number, 'SIGKILL');
    enough = acknowledged.length + 20;
    await writing;
    for (const name of acknowledged) expect(await statusOf('GET', `${WORKSPACES}/${name}`)).toBe(200);
    await untilWorkersHaveStarted(WORKERS + 1);
    expect(listWorkers()).toHaveLength(WORKERS);
    expect(listWorkers()).not.toContain(victim);
    expect((await product.run('verify')).code).toBe(0);
  });

  it('answers the requests of all workers before it stops', async () => {
    const open = Array.from({ length: 4 * WORKERS }, (_, n) => {
      const content = JSON.stringify(resource('workspaces', { name: `late-${n}` }));
      const connection = new RawConnection(product.url).request(`POST ${WORKSPACES}`, {
        authorization: `Bearer ${product.adminToken}`,
        'content-type': 'application/vnd.api+json',
        'content-length': content.length,
        expect: '100-continue',
      });
      return { connection, content };
    });
    for (const { connection } of open) expect((await connection.answer()).status).toBe(100);
    const workers = listWorkers();
    const ended = product.stop();
    await waitUntil(async () => (await statusOf('GET', '/readyz')) !== 200, 'the server is stopping');
    for (const { connection, content } of open) {
      connection.send(content);
      expect((await connection.answer()).status).toBe(201);
    }
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: 'Stopping …\n' });
    expect(workers.map(hasEnded)).toEqual([true, true]);
    expect(product.isPostgresRunning()).toBe(false);
  });

  it('leaves neither a worker nor Postgres if the first process is killed', async () => {
    await startWithAllWorkers();
    const workers = listWorkers();
    expect(workers).toHaveLength(WORKERS);
    await product.kill();
    await waitUntil(() => workers.every(hasEnded), 'the workers have ended');
    await waitUntil(() => !product.isPostgresRunning(), 'Postgres has ended');
  });
});

import { readdirSync } from 'node:fs';
import http from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sendSignal } from '../../libs/host/machine/signals.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { RawConnection } from '../support/raw-connection.js';
import { makeOrganization, resource } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';

const LONG = 300_000;
const WORKERS = 2;

let product: Product;

beforeEach(async () => {
  product = await launchProduct({ CADASTRE_WORKERS: String(WORKERS), LOG_LEVEL: 'info' });
  await product.start();
  await makeOrganization(createApiTestClient(product.url, product.adminToken), 'acme');
}, LONG);
afterEach(() => product?.remove(), LONG);

/** Returns the parent of a process. The name before it is in parentheses and may contain any character. */
const parentOf = (pid: number): number => Number(/^.*\) \S (\d+)/s.exec(contentOf(`/proc/${pid}/stat`))?.[1]);

const listWorkers = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === product.serverPid())
    .filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes('main.js'));

const hasEnded = (pid: number): boolean => !sendSignal(pid, 0) || contentOf(`/proc/${pid}/cmdline`) === '';

/** Sends a request on a new connection. Returns null if the connection breaks before the response. */
const send = (method: string, path: string, body?: object): Promise<number | null> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${product.adminToken}`, 'content-type': 'application/vnd.api+json' };
    const request = http.request(`${product.url}${path}`, { method, headers, agent: false }, (response) => {
      response.resume().once('close', () => resolve(response.complete ? (response.statusCode ?? null) : null));
    });
    request.once('error', () => resolve(null));
    request.end(body && JSON.stringify(body));
  });

const create = (name: string): Promise<number | null> =>
  send('POST', '/api/v2/organizations/acme/workspaces', resource('workspaces', { name }));
const read = (name: string): Promise<number | null> => send('GET', `/api/v2/organizations/acme/workspaces/${name}`);

/** Returns the process ids in the request log. */
const listServingPids = (): ReadonlySet<number> =>
  new Set(
    product
      .output()
      .split('\n')
      .filter((line) => line.includes('"route":"/api/v2/organizations/'))
      .map((line) => (JSON.parse(line) as { readonly pid: number }).pid),
  );

describe('a server with workers', () => {
  it(
    'shows a write in the next read through any worker',
    async () => {
      for (let n = 0; n < 10; n += 1) {
        expect(await create(`ws-${n}`)).toBe(201);
        expect([await read(`ws-${n}`), await read(`ws-${n}`), await read(`ws-${n}`)]).toEqual([200, 200, 200]);
      }
      await waitUntil(() => listServingPids().size === WORKERS, 'both workers have logged requests');
      expect([...listServingPids()].toSorted()).toEqual([...listWorkers()].toSorted());
      const metrics = await (await fetch(`${product.url}/metrics`)).text();
      expect(metrics).toMatch(/^cadastre_http_request_duration_seconds_count\{.*method="POST".*workspaces".*\} 10$/m);
      expect(metrics).toMatch(/^cadastre_follower_lag_seconds\{follower="audit_trail"\}/m);
    },
    LONG,
  );

  it(
    'loses no acknowledged write if a worker is killed, and replaces the worker',
    async () => {
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
      for (const name of acknowledged) expect(await read(name)).toBe(200);
      await waitUntil(() => listWorkers().length === WORKERS, 'the worker is replaced');
      expect(listWorkers()).not.toContain(victim);
      expect((await product.run('verify')).code).toBe(0);
    },
    LONG,
  );

  it(
    'answers the requests of all workers before it stops',
    async () => {
      const body = JSON.stringify(resource('workspaces', { name: 'late' }));
      const open = Array.from({ length: 2 * WORKERS }, (_, n) => {
        const content = body.replace('late', `late-${n}`);
        const connection = new RawConnection(product.url).request('POST /api/v2/organizations/acme/workspaces', {
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
      await waitUntil(async () => (await send('GET', '/readyz')) !== 200, 'the server is stopping');
      for (const { connection, content } of open) {
        connection.send(content);
        expect((await connection.answer()).status).toBe(201);
      }
      expect(await ended).toMatchObject({ code: 0, signal: null });
      expect(workers.map(hasEnded)).toEqual([true, true]);
      expect(product.isPostgresRunning()).toBe(false);
    },
    LONG,
  );

  it(
    'leaves neither a worker nor Postgres if the primary is killed',
    async () => {
      const workers = listWorkers();
      expect(workers).toHaveLength(WORKERS);
      await product.kill();
      await waitUntil(() => workers.every(hasEnded), 'the workers have ended');
      await waitUntil(() => !product.isPostgresRunning(), 'Postgres has ended');
    },
    LONG,
  );
});

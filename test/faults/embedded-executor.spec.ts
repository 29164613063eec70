import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sendSignal } from '../../libs/platform/host/machine/signals.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeOrganization } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';

const LONG = 120_000;
/** The tests execute no run, so they do not need a machine with a sandbox. */
const UNCONFINED = { CADASTRE_EXECUTOR: 'auto', CADASTRE_EXECUTOR_SANDBOX: 'off' };
/** No folder of this path has a program. */
const NO_SANDBOX = { CADASTRE_EXECUTOR: 'auto', PATH: '/nonexistent' };

let product: Product;
let api: ApiTestClient;

const launch = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  product = await launchProduct(settings);
  api = createApiTestClient(product.url, product.adminToken);
};
afterEach(() => product?.remove());

const start = async (): Promise<string> => {
  await product.start();
  await waitUntil(() => product.output().includes('  Kafka: '), 'the greeting was printed');
  return product.output();
};

const listPools = async (): Promise<{ id: string; attributes: { name: string; 'agent-count': number } }[]> =>
  (await api.get('/api/v2/admin/agent-pools')).body.data;

/** Returns the ids of the processes that run the executor of the server. */
const listExecutors = async (): Promise<number[]> => {
  const parent = product.serverPid();
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const matches = await Promise.all(
    processes.map(async (pid) => {
      try {
        const [status, command] = await Promise.all(
          ['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
        );
        const ppid = Number(/^.*\) \S (\d+)/s.exec(status ?? '')?.[1]);
        return ppid === parent && command?.includes('executor/src/child.js') ? [Number(pid)] : [];
      } catch {
        // The process has ended.
        return [];
      }
    }),
  );
  return matches.flat();
};

const waitForAgents = (count: number): Promise<void> =>
  waitUntil(async () => (await listPools())[0]?.attributes['agent-count'] === count, `${count} agents are registered`);

const readOperations = async (organization: string): Promise<boolean> =>
  (await api.get(`/api/v2/organizations/${organization}/entitlement-set`)).body.data.attributes.operations;

describe('the first start of a new installation', () => {
  it(
    'starts an executor of the site, which ends with the server and is started again if it is killed',
    async () => {
      await launch(UNCONFINED);
      expect(await start()).toContain('Remote runs: executed by this server, without a sandbox');
      await waitForAgents(1);
      expect((await listPools()).map(({ attributes }) => attributes.name)).toEqual(['embedded']);
      await makeOrganization(api, 'acme');
      expect(await readOperations('acme')).toBe(true);

      const [first] = await listExecutors();
      const file = join(product.dataFolder, 'executor-token');
      const token = (await readFile(file, 'utf8')).trim();
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      for (const name of ['cmdline', 'environ']) {
        const text = await readFile(`/proc/${first}/${name}`, 'utf8');
        expect(text).not.toContain(token);
        expect(text).not.toContain(product.adminToken);
      }

      sendSignal(first ?? 0, 'SIGKILL');
      await waitUntil(async () => (await listExecutors()).some((pid) => pid !== first), 'another executor runs');
      await waitForAgents(2);
      const stopped = await product.stop();
      expect(stopped).toMatchObject({ code: 0, signal: null });
      expect(stopped.stdout).not.toContain(token);

      await start();
      // The second agent has reported its end; the killed one could not.
      await waitForAgents(2);
      expect(await listPools()).toHaveLength(1);
      const [last] = await listExecutors();
      await product.kill();
      await waitUntil(() => !sendSignal(last ?? 0, 0), 'the executor has ended after the server was killed');
    },
    LONG,
  );

  it(
    'starts none on a machine without a sandbox, and says what to install',
    async () => {
      await launch(NO_SANDBOX);
      expect(await start()).toMatch(
        /Remote runs: not executed by this server\. .*(?:bubblewrap|Linux).*CADASTRE_EXECUTOR_SANDBOX=off/,
      );
      expect(await listPools()).toEqual([]);
      expect(await listExecutors()).toEqual([]);
      await product.stop();
      const refused = await product.runWith({ CADASTRE_EXECUTOR: 'on' }, 'serve');
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^CADASTRE_EXECUTOR: on, but .*\n$/) });
    },
    LONG,
  );
});

describe('the start of an installation that exists', () => {
  it(
    'starts an executor only after the operator has switched it on, and none after the pool was deleted',
    async () => {
      await launch(UNCONFINED);
      // As an installation of an earlier version, the site has an administrator and no pool.
      expect(await product.run('token', 'create', '--user', 'root', '--site-admin')).toMatchObject({ code: 0 });
      expect(await start()).toContain('Remote runs: not executed by this server (CADASTRE_EXECUTOR=on');
      expect(await listPools()).toEqual([]);
      await makeOrganization(api, 'acme');
      expect(await readOperations('acme')).toBe(false);
      await product.stop();

      const switchedOn = product.spawnWith({ CADASTRE_EXECUTOR: 'on' }, 'serve');
      await waitUntil(async () => (await api.get('/readyz').catch(() => null))?.status === 200, 'the server is ready');
      await waitForAgents(1);
      switchedOn.kill('SIGTERM');
      expect(await switchedOn.ended).toMatchObject({ code: 0 });

      expect(await start()).toContain('Remote runs: executed by this server');
      const [pool] = await listPools();
      expect((await api.delete(`/api/v2/agent-pools/${pool?.id}`)).status).toBe(204);
      await waitUntil(async () => (await listExecutors()).length === 0, 'the executor has ended');
      await product.stop();
      expect(await start()).toContain('Remote runs: not executed by this server (CADASTRE_EXECUTOR=on');
    },
    LONG,
  );
});

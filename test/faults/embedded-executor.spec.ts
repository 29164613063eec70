import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sendSignal } from '../../libs/platform/host/machine/signals.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeRun, makeWorkspace, resource } from '../support/seeds.js';
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

/** Behaves like terraform whose apply ends only after a SIGINT, when it has written its state. */
const TERRAFORM = `#!/bin/sh
state=$PWD/../state/workspaces/live/terraform.tfstate
case "$1" in
  version) echo '{"terraform_version":"1.13.0"}' ;;
  providers) echo '{"format_version":"1.0","provider_schemas":{}}' ;;
  show) echo '{"format_version":"1.2","applyable":true,"output_changes":{"one":{"actions":["create"],"before":null,"after":1,"before_sensitive":false,"after_sensitive":false}}}' ;;
  plan) for option in "$@"; do case $option in -out=*) echo a plan > "\${option#-out=}" ;; esac; done ;;
  apply)
    final='{"version":4,"terraform_version":"1.13.0","serial":7,"lineage":"one","outputs":{},"resources":[]}'
    trap 'echo "$final" > "$state"; exit 1' INT
    touch "$(dirname "$0")/applying"
    while :; do sleep 0.05; done ;;
esac
`;

const hasFile = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Creates a run in a new remote workspace, which applies its plan. Resolves to the id of the workspace. */
const startApply = async (): Promise<string> => {
  await makeOrganization(api, 'acme');
  const workspace = await makeWorkspace(api, 'acme', 'live', {
    'execution-mode': 'remote',
    'auto-apply': true,
    'terraform-version': '1.13.0',
  });
  const body = resource('configuration-versions', { 'auto-queue-runs': false });
  const created = await api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, body);
  const { pathname } = new URL(expectStatus(created, 201).body.data.attributes['upload-url'] as string);
  // An archive without files.
  expectStatus(await api.as(null).put(pathname, gzipSync(Buffer.alloc(1_024))), 200);
  await makeRun(api, workspace);
  return workspace;
};

describe('the stop of a server while an apply runs', () => {
  it(
    'waits for the apply, and at a second signal interrupts it with its state stored',
    async () => {
      const tools = await mkdtemp(join(tmpdir(), 'cadastre-tools-'));
      await writeFile(join(tools, 'terraform'), TERRAFORM, { mode: 0o755 });
      const path = `${tools}:${process.env['PATH'] ?? ''}`;
      await launch({ ...UNCONFINED, CADASTRE_EXECUTOR_GRACE: '600', PATH: path });
      await start();
      await waitForAgents(1);
      const workspace = await startApply();
      await waitUntil(() => hasFile(join(tools, 'applying')), 'terraform applies');

      const waitForText = (text: string): Promise<void> =>
        waitUntil(() => product.errors().includes(text), `the server prints ${text}`);
      const ended = product.end('SIGINT');
      await waitForText('Press Ctrl-C again to interrupt them now.');
      sendSignal(product.serverPid(), 'SIGINT');
      await waitForText('Interrupting running phases of remote runs');
      expect(await ended).toMatchObject({ code: 0, signal: null });

      await start();
      const current = await api.get(`/api/v2/workspaces/${workspace}/current-state-version`);
      expect(expectStatus(current, 200).body.data.attributes.serial).toBe(7);
      const { data } = expectStatus(await api.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
      expect(data[0].attributes.status).toBe('errored');
      await product.stop();
      await rm(tools, { recursive: true });
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

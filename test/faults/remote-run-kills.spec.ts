import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import { hasIacTools, readToolVersion } from '../cli/iac.js';
import { chooseTool, Gate, hasFile, readPhaseLog, uploadConfiguration } from '../cli/remote-site.js';
import { DATA } from '../support/folders.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import {
  expectStatus,
  makeAgentToken,
  makeOrganization,
  makeRun,
  makeSitePool,
  makeWorkspace,
} from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { quiet } from '../support/silent-logger.js';
import { createTestExecutor, type TestExecutor } from '../support/test-executor.js';

// Gateway, projector and executor are processes of their own, and real clients execute the runs.

const LONG = 180_000;

let folder: string;
let postgres: EmbeddedPostgres;
let gateway: Product;
let projector: Product;
let serving: ReturnType<Product['spawn']>;
let running: ReturnType<Product['spawn']>;
let api: ApiTestClient;
let executor: TestExecutor;

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  folder = await mkdtemp(join(DATA, 'cadastre-kills-'));
  const settings = {
    CADASTRE_ENCRYPTION_KEY: await copyPreparedPostgres(folder),
  };
  postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), logger: quiet });
  const launch = () => launchProduct({ ...settings, DATABASE_URL: postgres.url });
  [gateway, projector] = [await launch(), await launch()];
  api = createApiTestClient(gateway.url, gateway.adminToken);
  startProjector();
  await startGateway();
  await makeOrganization(api, 'acme');
  const token = await makeAgentToken(api, await makeSitePool(api, 'executors'));
  executor = await createTestExecutor({ url: gateway.url, caFile: null, token });
  await executor.start();
}, LONG);

afterAll(async () => {
  await executor?.remove();
  for (const one of [serving, running]) {
    one?.kill('SIGKILL');
    await one?.ended;
  }
  await gateway?.remove();
  await projector?.remove();
  await postgres?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
}, LONG);

/** Executors download configurations from the public URL. */
const spawnWithUrl = (product: Product, name: string) => product.spawnWith({ CADASTRE_PUBLIC_URL: gateway.url }, name);

const startGateway = async (): Promise<void> => {
  serving = spawnWithUrl(gateway, 'gateway');
  const isReady = async () => (await api.get('/readyz').catch(() => null))?.status === 200;
  await waitUntil(isReady, 'the gateway is ready');
};

const startProjector = (): void => {
  running = spawnWithUrl(projector, 'projector');
};

const killGateway = async (): Promise<void> => {
  serving.kill('SIGKILL');
  await serving.ended;
  await startGateway();
};

const killProjector = async (): Promise<void> => {
  running.kill('SIGKILL');
  await running.ended;
  startProjector();
};

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(api === undefined).toBe(hasIacTools.length === 0));
});

describe('kill -9 of the gateway and of the projector in both phases', () => {
  it.each(hasIacTools)(
    'lets a run of %s end with one apply, its whole log, its state and a free workspace',
    async (program) => {
      const gate = new Gate();
      const address = await gate.listen();
      const [barrier, count] = [join(folder, `${program}-barrier`), join(folder, `${program}-count`)];
      const print = (from: number, to: number) => `for n in $(seq ${from} ${to}); do echo "line $n of the apply"; done`;
      const wait = `touch ${barrier}; while [ -e ${barrier} ]; do sleep 0.1; done`;
      const script = `echo applied >> ${count}; ${print(1, 500)}; ${wait}; ${print(501, 1000)}`;
      const workspace = await makeWorkspace(api, 'acme', program, {
        'execution-mode': 'remote',
        'auto-apply': true,
        'terraform-version': readToolVersion(program),
      });
      await chooseTool(api, workspace, program);
      await uploadConfiguration(
        api,
        workspace,
        `data "terraform_remote_state" "other" {
          backend  = "http"
          config   = { address = "${address}", retry_max = 0 }
          defaults = {}
        }
        resource "terraform_data" "first" {
          provisioner "local-exec" { command = ${JSON.stringify(script)} }
        }`,
      );
      const run = await makeRun(api, workspace);
      const getRun = async () => expectStatus(await api.get(`/api/v2/runs/${run}`), 200).body.data;
      await gate.waitFor(1);
      await killGateway();
      await killProjector();
      gate.open();
      await waitUntil(() => hasFile(barrier), 'the apply waits');
      await killProjector();
      await killGateway();
      await rm(barrier);
      const getStatus = async (): Promise<string> => (await getRun()).attributes.status;
      await waitUntil(async () => ['applied', 'errored'].includes(await getStatus()), 'the run has ended');
      expect(await getStatus()).toBe('applied');
      expect(await readFile(count, 'utf8')).toBe('applied\n');

      const log = await readPhaseLog(api, `applies/apply-${run.slice(4)}`);
      const numbers = [...log.matchAll(/local-exec\): line (\d+) of the apply/g)].map(([, number]) => Number(number));
      expect(numbers).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
      const current = await api.get(`/api/v2/workspaces/${workspace}/current-state-version`);
      const { id } = expectStatus(current, 200).body.data;
      const state = JSON.parse(expectStatus(await api.get(`/api/v2/state-versions/${id}/download`), 200).text);
      expect(state.resources.map(({ name }: { readonly name: string }) => name)).toContain('first');
      const unlocked = expectStatus(await api.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
      expect(unlocked.attributes.locked).toBe(false);
      gate.close();
    },
    LONG,
  );
});

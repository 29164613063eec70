import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { unmigratedDatabase, type TestDatabase } from '../support/database.js';
import { buildPreviousRelease } from '../support/previous-release.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeOrganization, makeOrganizationToken, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { expectNothingLost } from './background-load.js';
import { Clients } from './clients.js';

const LONG = 240_000;

let folder: string;
let testDatabase: TestDatabase;
let earlier: Product;
let later: Product;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-upgrade-'));
  const build = join(folder, 'previous');
  await buildPreviousRelease(build);
  testDatabase = await unmigratedDatabase();
  const settings = {
    DATABASE_URL: testDatabase.url,
    CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    CADASTRE_ADMIN_TOKEN: `test.atlasv1.${randomBytes(24).toString('hex')}`,
    CADASTRE_BLOBS: join(folder, 'blobs'),
  };
  earlier = await launchProduct(settings, { build });
  later = await launchProduct(settings);
}, LONG);

afterAll(async () => {
  for (const product of [earlier, later]) await product?.remove();
  await testDatabase?.drop();
  await rm(folder, { recursive: true, force: true });
});

const query = async (text: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
};

/** Every process registers the versions that it writes. */
const VIEWS_TO_REBUILD = `
  select view from event_store.view_versions v
   where version < (select max((versions ->> v.view)::integer) from event_store.view_writers)`;

/** The previous release answers as its own description says. */
const ignoreDescription = (): void => undefined;

/** Returns what both versions show of a workspace and its past. */
const readAll = async (api: ApiTestClient, trail: ApiTestClient, workspace: string): Promise<unknown> => {
  const read = async (from: ApiTestClient, path: string) => {
    const { status, body } = await from.get(path);
    return { status, data: body.data };
  };
  return {
    trail: await read(trail, '/api/v2/organization/audit-trail?page[size]=100'),
    changes: await read(api, `/api/v2/workspaces/${workspace}/history`),
    locks: await read(api, `/api/v2/workspaces/${workspace}/lock-history`),
  };
};

it(
  'the previous release and this one serve one database while clients write, and the previous one can come back',
  async () => {
    await earlier.start();
    const before = createApiTestClient(earlier.url, earlier.adminToken, ignoreDescription);
    const organization = await makeOrganization(before, 'acme');
    const trailToken = await makeOrganizationToken(before, 'acme');
    const quiet = await makeOrganization(before, 'quiet');
    const quietToken = await makeOrganizationToken(before, 'quiet');
    const workspace = await makeWorkspace(before, 'quiet', 'one');
    const earlierIds = await listEventIds('true');

    // Requests go to both processes in turn, as behind a load balancer.
    let targets = [earlier];
    let sent = 0;
    const nextTarget = (): Product => targets[sent++ % targets.length] as Product;
    const clients = new Clients(
      {
        get url() {
          return nextTarget().url;
        },
        token: earlier.adminToken,
        up: () => Promise.resolve(),
      },
      'acme',
    );
    clients.start(3);
    await clients.acknowledged(20);
    await later.start();
    targets = [earlier, later];
    await clients.acknowledged(100);

    const after = createApiTestClient(later.url, later.adminToken);
    await after.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason: 'upgrade' });
    await before.post(`/api/v2/workspaces/${workspace}/actions/unlock`, {});
    const expected = await readAll(after, after.as(quietToken), workspace);
    expect(await readAll(before, before.as(quietToken), workspace)).toEqual(expected);

    targets = [later];
    await clients.acknowledged(10);
    await earlier.stop();
    await clients.acknowledged(30);
    await waitUntil(
      async () => (await query(VIEWS_TO_REBUILD)).length === 0,
      'the views have the versions of the later release',
    );
    // It accepts the migrations of the later one, so that operators can go back.
    expect(await earlier.run('migrate')).toMatchObject({ code: 0 });
    await clients.acknowledged(30);
    await clients.stop();
    const locked = await query('select id from views.workspaces where lock is not null order by id');
    expect(await query('select workspace as id from views.workspace_locks order by workspace')).toEqual(locked);
    expect(new Set(clients.statuses.keys())).toEqual(new Set([200, 201]));
    expect(clients.ledger.count('unknown')).toBe(0);
    await expectNothingLost({
      product: later,
      databaseUrl: () => Promise.resolve(testDatabase.url),
      clients,
      organization,
      trailToken,
      earlier: new Set([...earlierIds, ...(await listEventIds(`organization = '${quiet.id}'`))]),
    });
  },
  LONG,
);

const listEventIds = async (condition: string): Promise<readonly string[]> =>
  (await query(`select id from event_store.events where ${condition}`)).map(({ id }) => String(id));

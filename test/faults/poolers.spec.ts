import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database, inspectConnections, PooledConnectionError } from '#platform/postgres';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import { DATA } from '../support/folders.js';
import { startPgBouncer, type PgBouncer, type PoolMode } from '../support/pgbouncer.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { scaleLimit } from '../support/rounds.js';
import { StreamReader } from '../support/live-streams.js';
import { makeOrganization, makeOrganizationToken, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { quiet } from '../support/silent-logger.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

const LONG = scaleLimit(180_000);
const RACERS = 20;

/** A Postgres with a migrated database, behind PgBouncers. */
class PooledSite {
  private constructor(
    private readonly folder: string,
    readonly encryptionKey: string,
    readonly postgres: EmbeddedPostgres,
    readonly poolers: Readonly<Record<PoolMode, PgBouncer>>,
  ) {}

  static async open(): Promise<PooledSite> {
    const folder = await mkdtemp(join(DATA, 'cadastre-postgres-'));
    const encryptionKey = await copyPreparedPostgres(folder);
    const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), logger: quiet });
    const poolers = {
      session: await startPgBouncer(postgres.url, 'session'),
      transaction: await startPgBouncer(postgres.url, 'transaction'),
    };
    return new PooledSite(folder, encryptionKey, postgres, poolers);
  }

  /** Sends SIGKILL to Postgres, which is then restarted. */
  async killPostgres(): Promise<void> {
    const readPid = (): number => Number.parseInt(contentOf(join(this.folder, 'postgres/cluster/postmaster.pid')), 10);
    const killed = readPid();
    process.kill(killed, 'SIGKILL');
    await waitUntil(() => ![killed, Number.NaN].includes(readPid()), 'a new Postgres has started');
  }

  async close(): Promise<void> {
    for (const pooler of Object.values(this.poolers)) await pooler.remove();
    await this.postgres.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

describe.each([
  ['in transaction mode, with a direct address', 'transaction', ({ postgres }: PooledSite) => postgres.url],
  ['in session mode, which is the direct address too', 'session', ({ poolers }: PooledSite) => poolers.session.urlOf()],
] as const)('a PgBouncer %s', (_, mode, directUrl) => {
  let site: PooledSite;
  let product: Product;

  beforeAll(async () => {
    site = await PooledSite.open();
    product = await launchProduct({
      DATABASE_URL: site.poolers[mode].urlOf(),
      DATABASE_DIRECT_URL: directUrl(site),
      CADASTRE_ENCRYPTION_KEY: site.encryptionKey,
    });
    await product.start();
  });
  afterAll(async () => {
    await product?.remove();
    await site?.close();
  });

  it('lets one of many simultaneous locks succeed', async () => {
    const api = createApiTestClient(product.url, product.adminToken);
    await makeOrganization(api, 'racers');
    const workspace = await makeWorkspace(api, 'racers', 'lamp');
    const locks = await Promise.all(
      Array.from({ length: RACERS }, () => api.post(`/api/v2/workspaces/${workspace}/actions/lock`, {})),
    );
    const statuses = locks.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...Array.from({ length: RACERS - 1 }, () => 409)]);
  });

  it('sends live messages, and backs up', async () => {
    const api = createApiTestClient(product.url, product.adminToken);
    await makeOrganization(api, 'watched');
    const stream = await StreamReader.open(product, 'watched', await makeOrganizationToken(api, 'watched'));
    const workspace = await makeWorkspace(api, 'watched', 'lamp');
    await stream.until(({ messages }) => messages.some(({ data }) => data?.resource?.id === workspace));
    stream.close();
    const { code, stderr } = await product.run('backup', join(product.dataFolder, 'backup'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it(
    'loses no acknowledged write if Postgres or the pooler is killed, and no process needs a restart',
    async () => {
      const work = await startBackgroundLoad(product, () => Promise.resolve(site.postgres.url));
      for (const kill of [() => site.killPostgres(), () => site.poolers[mode].restart()]) {
        await work.clients.acknowledged(40);
        await kill();
      }
      await work.clients.acknowledged(40);
      await work.clients.stop();
      await expectNothingLost(work);
    },
    LONG,
  );
});

describe('a start through a PgBouncer', () => {
  let site: PooledSite;
  let product: Product;

  beforeAll(async () => {
    site = await PooledSite.open();
    product = await launchProduct({ DATABASE_URL: site.postgres.url, CADASTRE_ENCRYPTION_KEY: site.encryptionKey });
  });
  afterAll(async () => {
    await product?.remove();
    await site?.close();
  });

  it.each([
    [
      'there is no direct address',
      () => ({ DATABASE_URL: site.poolers.transaction.urlOf() }),
      'DATABASE_URL: the database cannot be used (a connection pooler, such as PgBouncer, does not pass options to ' +
        'Postgres); also set DATABASE_DIRECT_URL to the URL of Postgres itself, or set DATABASE_URL to it',
    ],
    [
      'the direct address leads to a pooler in transaction mode',
      () => ({ DATABASE_URL: site.poolers.transaction.urlOf(), DATABASE_DIRECT_URL: site.poolers.transaction.urlOf() }),
      'DATABASE_DIRECT_URL: the database cannot be used (a connection pooler in transaction mode answers); set the URL ' +
        'of Postgres itself, or of a pooler in session mode',
    ],
    [
      'the pooler leads to another database',
      () => ({ DATABASE_URL: site.poolers.transaction.urlOf('template1'), DATABASE_DIRECT_URL: site.postgres.url }),
      'DATABASE_URL: the database cannot be used (it is not the database of DATABASE_DIRECT_URL)',
    ],
    [
      'the pooler does not find the database',
      () => ({ DATABASE_URL: site.poolers.transaction.urlOf('absent'), DATABASE_DIRECT_URL: site.postgres.url }),
      'DATABASE_URL: the database cannot be used (database "absent" does not exist); correct the user, password and ' +
        'database in the URL, or the configuration of the pooler',
    ],
  ])('reports the cause in one line if %s', async (_, settings, line) => {
    const ended = await product.runWith(settings(), 'gateway');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr.trimEnd().split('\n')).toEqual([line]);
    const { code, stdout } = await product.runWith(settings(), 'doctor');
    expect([code, stdout]).toEqual([1, expect.stringContaining(`FAILED   database: ${line}`)]);
  });

  it.each([
    ['beside a direct address', () => site.postgres.url, undefined],
    ['as the direct address', () => site.poolers.transaction.urlOf(), expect.any(PooledConnectionError)],
  ])('inspects a pooler %s in the process too', async (_, directUrl, failure) => {
    const poolerUrl = site.poolers.transaction.urlOf();
    const database = new Database({ url: directUrl(), poolerUrl, connections: 1, applicationName: 'test' });
    try {
      expect(await inspectConnections(database).catch((error: unknown) => error)).toEqual(failure);
    } finally {
      await database.close();
    }
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import { DATA } from '../support/folders.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { quiet } from '../support/silent-logger.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

const LONG = scaleLimit(180_000);
const KILLS = countRounds(3);

let site: string;
let folder: string;
let encryptionKey: string;
let postgres: EmbeddedPostgres;
let product: Product;

beforeAll(async () => {
  // The product uses its Postgres like an external one: it knows only the address.
  site = await mkdtemp(join(DATA, 'cadastre-postgres-'));
  folder = join(site, 'postgres');
  encryptionKey = await copyPreparedPostgres(site);
  postgres = await startEmbeddedPostgres({ folder, logger: quiet });
  product = await launchProduct({ DATABASE_URL: postgres.url, CADASTRE_ENCRYPTION_KEY: encryptionKey });
  await product.start();
});

afterAll(async () => {
  await product?.remove();
  await postgres?.stop();
  await rm(site, { recursive: true, force: true });
});

/** Returns the process id of the Postgres server, or null if none runs. */
const postmaster = (): number | null => {
  const pid = Number.parseInt(contentOf(join(folder, 'cluster/postmaster.pid')), 10);
  return Number.isNaN(pid) ? null : pid;
};

const killPostgres = async (): Promise<void> => {
  const killed = postmaster();
  expect(killed).not.toBeNull();
  process.kill(killed ?? 0, 'SIGKILL');
  await waitUntil(() => ![killed, null].includes(postmaster()), 'a new Postgres has started');
};

describe('a Postgres that is killed', () => {
  it(
    'again and again loses no acknowledged write, clients get errors with Retry-After, and no process needs a restart',
    async () => {
      const work = await startBackgroundLoad(product, () => Promise.resolve(postgres.url));
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await work.clients.acknowledged(40);
        await killPostgres();
      }
      await work.clients.acknowledged(40);
      await work.clients.stop();
      // During the outage some clients got 503. Other errors would have failed in `Clients`.
      expect(work.clients.statuses.get(503)).toBeGreaterThan(0);
      await expectNothingLost(work);
    },
    LONG,
  );

  it('makes readiness and requests fail with 503 and Retry-After', async () => {
    // A stopped Postgres stays away until this test starts it again. A killed one would be restarted at once.
    await postgres.stop();
    for (const path of ['/readyz', '/api/v2/organizations', '/api/v2/account/details']) {
      const response = await fetch(`${product.url}${path}`, {
        headers: { authorization: `Bearer ${product.adminToken}` },
      });
      expect({ path, status: response.status, retryAfter: response.headers.get('retry-after') }).toEqual({
        path,
        status: 503,
        retryAfter: '1',
      });
      expect(await response.json()).toEqual({
        errors: [{ status: '503', title: 'unavailable', detail: expect.stringMatching(/database is not available/) }],
      });
    }
    // The process is healthy. A restart by an orchestrator would not help.
    expect((await fetch(`${product.url}/healthz`)).status).toBe(200);
    // Its address may differ now. The next test starts a process of its own.
    postgres = await startEmbeddedPostgres({ folder, logger: quiet });
  });
});

describe('followers and scheduled jobs during an outage of Postgres', () => {
  /** Returns the number of failures by name of follower or scheduled job. */
  const failuresByName = async (): Promise<Map<string, number>> => {
    const text = await (await fetch(`${product.url}/metrics`)).text();
    const pattern =
      /^cadastre_(?:follower|scheduled_job)_failures_total\{(?:follower|scheduled_job)="(\w+)"\} (\d+)$/gm;
    return new Map([...text.matchAll(pattern)].map(([, name = '', count]) => [name, Number(count)]));
  };

  /** Returns the log lines about a follower or a scheduled job, as `name: text`. */
  const linesOf = (output: string): readonly string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { readonly follower?: string; readonly scheduledJob?: string; msg: string })
      .filter(({ msg }) => /^(?:follower|scheduled job) (?:failed|still fails|recovered)/.test(msg))
      .map(({ follower, scheduledJob, msg }) => `${follower ?? scheduledJob}: ${msg}`);

  it(
    'wait with growing delays, and log their first failure and their recovery',
    async () => {
      await product.remove();
      product = await launchProduct({
        DATABASE_URL: postgres.url,
        CADASTRE_ENCRYPTION_KEY: encryptionKey,
        LOG_LEVEL: 'info',
      });
      await product.start('projector');
      await waitUntil(() => product.output().split('follower leads').length > 6, 'followers lead');
      const started = performance.now();
      await postgres.stop();
      // Jobs that wait for their next run notice the outage only then.
      const followers = ['audit_trail', 'workspace_history', 'run_queue', 'state_sweeper', 'configuration_sweeper'];
      await waitUntil(async () => {
        const failures = await failuresByName();
        return [...followers, 'forgotten_names'].every((name) => (failures.get(name) ?? 0) >= 5);
      }, 'each follower and the job have failed five times');
      const seconds = (performance.now() - started) / 1_000;
      for (const [name, count] of await failuresByName()) {
        // The delay grows from 100 ms to 5 s between two failures.
        expect({ name, few: count <= 8 + seconds / 5 }).toEqual({ name, few: true });
      }
      postgres = await startEmbeddedPostgres({ folder, logger: quiet });
      const linesAbout = (name: string): string[] =>
        linesOf(product.output()).filter((line) => line.startsWith(`${name}: `));
      await waitUntil(
        () => followers.every((name) => linesAbout(name).some((line) => line.endsWith('recovered'))),
        'the followers have recovered',
      );
      const minutes = (performance.now() - started) / 60_000;
      for (const name of followers) {
        const lines = linesAbout(name);
        expect([lines[0], lines.at(-1)]).toEqual([
          `${name}: follower failed, will retry`,
          `${name}: follower recovered`,
        ]);
        expect(lines.length).toBeLessThanOrEqual(2 + minutes);
      }
    },
    LONG,
  );
});

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFact } from '../../libs/activity/facts/spec.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { launchProduct, type Product } from '../support/product.js';
import { makeOrganization, makeOrganizationToken, resource, type SeededOrganization } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { Clients } from './clients.js';
import { POLLS, PolledEntries, type Poll } from './pollers.js';
import { findMissedEntries, pruneEntries, pollOnce, type PollResult } from './pollers-pruning.js';
import { auditedOf, readLog } from './recorded-log.js';
import { serverFor, NoResponseError } from './trail-server.js';

const WRITING_MS = 18_000;
const LONG = 120_000;
/** Clients of each organization. The service that reports facts is the tenth writer. */
const CLIENTS = 9;
const MAX_FACTS_PER_REQUEST = 200;
/** Number of entries before the readers start: several pages. */
const EARLIER = 2_500;

const ADMIN = `test.atlasv1.${randomBytes(24).toString('hex')}`;

let database: TestDatabase;
let gateways: readonly Product[];
let projector: Product;
/** Gateways that are not restarting. Requests go to each in turn, as through a load balancer. */
let up: Set<Product>;
let turn: number;

beforeEach(async () => {
  database = await freshDatabase();
  const settings = {
    DATABASE_URL: database.url,
    CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    CADASTRE_ADMIN_TOKEN: ADMIN,
  };
  const products = [
    await launchProduct(settings),
    await launchProduct(settings),
    await launchProduct(settings),
  ] as const;
  [projector, ...gateways] = products;
  await Promise.all([projector.start('projector'), ...gateways.map((gateway) => gateway.start('gateway'))]);
  up = new Set(gateways);
  turn = 0;
}, LONG);

afterEach(async () => {
  await Promise.all([...(gateways ?? []), projector].map((product) => product?.remove()));
  await database?.drop();
});

const url = (): string => {
  const all = [...up];
  const gateway = all[(turn += 1) % all.length];
  if (!gateway) throw new Error('no gateway is up');
  return gateway.url;
};

type Chance = (most: number) => number;

/** Returns a generator of whole numbers from 0 on, which is the same in each run. */
const chanceOf = (seed: number): Chance => {
  const numbers = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: 1_000 });
  let next = 0;
  return (most) => (numbers[(next += 1) % numbers.length] ?? 0) % (most + 1);
};

/** Readers run until they have read everything that was written, or until a failure. */
type Phase = 'writing' | 'written' | 'over';

type Tenant = { readonly organization: SeededOrganization; readonly token: string };

/** Returns whether the server has acknowledged the facts. */
const report = async ({ organization, token }: Tenant, numbers: readonly number[]): Promise<boolean> => {
  const facts = numbers.map((n) => createFact(String(n)));
  const path = `/api/v2/organizations/${organization.name}/audit-facts`;
  const answer = await createApiTestClient(url(), token)
    .post(path, { facts })
    .catch(() => null);
  if (!answer || answer.status === 503) return false;
  expect([200, 201]).toContain(answer.status);
  return true;
};

/** Returns whether the server has acknowledged the retention. */
const setRetention = async ({ organization }: Tenant, days: number): Promise<boolean> => {
  const path = `/api/v2/organizations/${organization.name}/audit-trail-settings`;
  const settings = resource('audit-trail-settings', { 'retention-days': days });
  const answer = await createApiTestClient(url(), ADMIN)
    .patch(path, settings)
    .catch(() => null);
  if (!answer || answer.status === 503) return false;
  expect(answer.status).toBe(200);
  return true;
};

const numbersFrom = (first: number, count: number): number[] => Array.from({ length: count }, (_, n) => first + n);

/** Reports facts until writing ends. It repeats unacknowledged facts together with further ones. */
const reportFacts = async (tenant: Tenant, chance: Chance, phase: () => Phase): Promise<void> => {
  for (let first = EARLIER; phase() === 'writing';) {
    const numbers = numbersFrom(first, 1 + chance(MAX_FACTS_PER_REQUEST - 1));
    if (await report(tenant, numbers)) first += numbers.length;
    await pause(chance(1_000));
  }
};

/** A reader that polls, and whose process is sometimes killed during a poll. */
class Reader {
  readonly shelf = new PolledEntries();
  readonly polls = { whole: 0, unanswered: 0, killed: 0 };

  constructor(
    readonly name: string,
    readonly tenant: Tenant,
    private readonly poll: Poll,
    private readonly chance: Chance,
  ) {}

  /** Polls until a poll that began after the last write returns nothing new. */
  async live(phase: () => Phase): Promise<void> {
    for (let currentPhase = phase(); currentPhase !== 'over'; currentPhase = phase()) {
      const before = this.shelf.entries.length;
      const outcome = await this.pollOnce(currentPhase === 'writing' && this.chance(3) === 0);
      this.polls[outcome] += 1;
      if (currentPhase === 'written' && outcome === 'whole' && this.shelf.entries.length === before) return;
      await pause(this.chance(currentPhase === 'writing' ? 2_000 : 100));
    }
  }

  private async pollOnce(isToDie: boolean): Promise<keyof Reader['polls']> {
    const killer = new AbortController();
    let requestsLeft = isToDie ? this.chance(3) : Infinity;
    // Aborts soon after one of the first requests: before the response, during it, or during the next request.
    const nextUrl = (): string => {
      if (requestsLeft === 0) setTimeout(() => killer.abort(), this.chance(10));
      requestsLeft -= 1;
      return url();
    };
    try {
      await this.poll(
        serverFor(this.name, { url: nextUrl, token: this.tenant.token, signal: killer.signal }),
        this.shelf,
      );
      return 'whole';
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      return killer.signal.aborted ? 'killed' : 'unanswered';
    }
  }
}

/** Starts new readers of a whole trail, one after another, while the trail is pruned, and until one has read it. */
const readWhilePruning = async (tenant: Tenant, phase: () => Phase): Promise<readonly PollResult[]> => {
  let isPruned = false;
  const visits: PollResult[] = [];
  const isRunning = (): boolean => phase() === 'writing';
  // On a busy machine, no reader ends between the kills of gateways.
  const isOn = (): boolean => (isRunning() && !isPruned) || (visits.length === 0 && phase() !== 'over');
  const readRepeatedly = async (name: 'cursor' | 'export'): Promise<void> => {
    const signal = AbortSignal.timeout(LONG);
    while (isOn()) {
      const result = await pollOnce(name, serverFor(name, { url, token: tenant.token, signal }), isOn);
      if (result) visits.push(result);
    }
  };
  const pruning = pruneEntries(
    database.url,
    tenant.organization.id,
    (days) => setRetention(tenant, days),
    isRunning,
  ).finally(() => {
    isPruned = true;
  });
  await Promise.all([pruning, readRepeatedly('cursor'), readRepeatedly('export')]);
  return visits;
};

/** Clients that change workspaces, with delays between their requests. */
const clientsOf = ({ organization }: Tenant, chance: Chance): Clients => {
  const target = {
    get url() {
      return url();
    },
    token: ADMIN,
    up: () => pause(chance(400)),
  };
  return new Clients(target, organization.name);
};

const FAULTS = [
  async function restartProjector(): Promise<void> {
    expect(await projector.stop()).toMatchObject({ code: 0 });
    await projector.start('projector');
  },
  async function killGateway(): Promise<void> {
    const [gateway] = up;
    if (!gateway) throw new Error('no gateway is up');
    up.delete(gateway);
    await gateway.kill();
    await gateway.start('gateway');
    // Moves it to the end, so that the other gateway is killed next.
    up.add(gateway);
  },
  async function killProjector(): Promise<void> {
    await projector.kill();
    await projector.start('projector');
  },
];

/** Counts the errors in what a reader has read. */
const faultsOf = ({ name, tenant: { organization }, shelf: { entries } }: Reader, expectedIds: readonly string[]) => {
  const expectedSet = new Set(expectedIds);
  const read = new Set(entries.map(({ id }) => id));
  // The timestamps are in the order of the log.
  const inOrder = entries.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1)).map(({ id }) => id);
  return {
    reader: `${name} of ${organization.name}`,
    lost: expectedIds.filter((id) => !read.has(id)).length,
    double: entries.length - read.size,
    unknown: [...read].filter((id) => !expectedSet.has(id)).length,
    foreign: entries.filter(({ auth }) => auth.organization_id !== organization.id).length,
    isInOrder: isDeepStrictEqual(inOrder, expectedIds),
  };
};

describe('readers of audit trails', () => {
  it(
    'get every entry once, in order, while twenty clients write and the projector, gateways and readers are killed',
    async () => {
      const api = createApiTestClient(url(), ADMIN);
      const tenants: Tenant[] = [];
      for (const name of ['acme', 'globex', 'pruned']) {
        const organization = await makeOrganization(api, name);
        tenants.push({ organization, token: await makeOrganizationToken(api, name) });
      }
      await Promise.all(
        tenants.map(async (tenant) => {
          for (let n = 0; n < EARLIER; n += 500) expect(await report(tenant, numbersFrom(n, 500))).toBe(true);
        }),
      );
      const pruned = tenants.pop() as Tenant;
      let seed = 0;
      const chance = (): Chance => chanceOf((seed += 1));
      let phase: Phase = 'writing';
      const getPhase = (): Phase => phase;
      const end = Date.now() + WRITING_MS;
      const readers = tenants.flatMap((tenant) =>
        Object.entries(POLLS).map(([name, poll]) => new Reader(name, tenant, poll, chance())),
      );
      const clients = tenants.map((tenant) => clientsOf(tenant, chance()));
      for (const each of clients) each.start(CLIENTS);
      const services = Promise.all(tenants.map((tenant) => reportFacts(tenant, chance(), getPhase)));
      const reading = Promise.all(readers.map((reader) => reader.live(getPhase)));
      const visiting = readWhilePruning(pruned, getPhase);
      const faults = async (): Promise<void> => {
        const isTime = (): boolean => phase === 'writing' && Date.now() < end;
        for (let n = 0; n < FAULTS.length || isTime(); n += 1) {
          await Promise.all(clients.map((each) => each.acknowledged(20)));
          await FAULTS[n % FAULTS.length]?.();
        }
      };
      const working = faults();
      try {
        await Promise.race([working, reading, services.then(() => working)]);
        await Promise.all(clients.map((each) => each.stop()));
        phase = 'written';
        await services;
        await reading;
        await visiting;
      } finally {
        phase = 'over';
        await Promise.allSettled([working, reading, services, visiting]);
        await Promise.allSettled(clients.map((each) => each.stop()));
      }
      const log = await readLog(database.url);
      const expectedIds = new Map(
        tenants.map(({ organization: { id } }) => [id, auditedOf(log, id).map((event) => event.id)]),
      );
      const faulty = readers.map((reader) => faultsOf(reader, expectedIds.get(reader.tenant.organization.id) ?? []));
      const none = { lost: 0, double: 0, unknown: 0, foreign: 0, isInOrder: true };
      expect(faulty).toEqual(faulty.map(({ reader }) => ({ reader, ...none })));
      expect(readers.filter(({ polls }) => polls.killed > 0).length).toBeGreaterThan(0);
      const visits = await visiting;
      const prunedIds = auditedOf(log, pruned.organization.id).map((event) => event.id);
      expect(findMissedEntries(visits, prunedIds)).toEqual([]);
      expect(visits.length).toBeGreaterThan(0);
    },
    LONG,
  );
});

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFact } from '../../libs/facts/spec.js';
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
/** Of each organization; with the service that reports facts they are ten, and twenty in all. */
const CLIENTS = 9;
const FACTS_AT_ONCE = 200;
/** What is there before the readers come: some pages. */
const EARLIER = 2_500;

const ADMIN = `test.atlasv1.${randomBytes(24).toString('hex')}`;

let database: TestDatabase;
let gateways: readonly Product[];
let projector: Product;
/** Gateways that are not being started again, and which of them is asked next, as by a load balancer. */
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

/** Whole numbers from 0 on, in the same order in each run. */
const chanceOf = (seed: number): Chance => {
  const numbers = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: 1_000 });
  let next = 0;
  return (most) => (numbers[(next += 1) % numbers.length] ?? 0) % (most + 1);
};

/** Readers go on until they have all that was written, or something has gone wrong. */
type Phase = 'writing' | 'written' | 'over';

type Place = { readonly organization: SeededOrganization; readonly token: string };

/** Whether it was told that they are recorded. */
const report = async ({ organization, token }: Place, numbers: readonly number[]): Promise<boolean> => {
  const facts = numbers.map((n) => createFact(String(n)));
  const path = `/api/v2/organizations/${organization.name}/audit-facts`;
  const answer = await createApiTestClient(url(), token)
    .post(path, { facts })
    .catch(() => null);
  if (!answer || answer.status === 503) return false;
  expect([200, 201]).toContain(answer.status);
  return true;
};

/** Whether it was told that the trail is kept for so long. */
const keep = async ({ organization }: Place, days: number): Promise<boolean> => {
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

/** What it was not told so of, it reports again, with more. */
const serve = async (place: Place, chance: Chance, phase: () => Phase): Promise<void> => {
  for (let first = EARLIER; phase() === 'writing';) {
    const numbers = numbersFrom(first, 1 + chance(FACTS_AT_ONCE - 1));
    if (await report(place, numbers)) first += numbers.length;
    await pause(chance(1_000));
  }
};

/** Somebody who polls, and is killed in the middle now and then. */
class Reader {
  readonly shelf = new PolledEntries();
  readonly polls = { whole: 0, unanswered: 0, killed: 0 };

  constructor(
    readonly name: string,
    readonly place: Place,
    private readonly poll: Poll,
    private readonly chance: Chance,
  ) {}

  /** Until a poll that began after the last write has nothing more. */
  async live(phase: () => Phase): Promise<void> {
    for (let now = phase(); now !== 'over'; now = phase()) {
      const before = this.shelf.entries.length;
      const outcome = await this.pollOnce(now === 'writing' && this.chance(3) === 0);
      this.polls[outcome] += 1;
      if (now === 'written' && outcome === 'whole' && this.shelf.entries.length === before) return;
      await pause(this.chance(now === 'writing' ? 2_000 : 100));
    }
  }

  private async pollOnce(isToDie: boolean): Promise<keyof Reader['polls']> {
    const killer = new AbortController();
    let left = isToDie ? this.chance(3) : Infinity;
    // Soon after one of its first requests: before there is an answer, while it comes, or in the next request.
    const asked = (): string => {
      if (left === 0) setTimeout(() => killer.abort(), this.chance(10));
      left -= 1;
      return url();
    };
    try {
      await this.poll(serverFor(this.name, { url: asked, token: this.place.token, signal: killer.signal }), this.shelf);
      return 'whole';
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      return killer.signal.aborted ? 'killed' : 'unanswered';
    }
  }
}

/** While a trail is pruned away, others come to read all of it, one after another. */
const visitPruned = async (place: Place, goesOn: () => boolean): Promise<readonly PollResult[]> => {
  let isPruned = false;
  const isOn = (): boolean => goesOn() && !isPruned;
  const visits: PollResult[] = [];
  const come = async (name: 'cursor' | 'export'): Promise<void> => {
    const signal = AbortSignal.timeout(LONG);
    while (isOn()) {
      const made = await pollOnce(name, serverFor(name, { url, token: place.token, signal }), isOn);
      if (made) visits.push(made);
    }
  };
  const pruning = pruneEntries(database.url, place.organization.id, (days) => keep(place, days), goesOn).finally(() => {
    isPruned = true;
  });
  await Promise.all([pruning, come('cursor'), come('export')]);
  return visits;
};

/** Those who change workspaces, with delays between what they ask for. */
const clientsOf = ({ organization }: Place, chance: Chance): Clients => {
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
    // Behind the other one: that is the next to be killed.
    up.add(gateway);
  },
  async function killProjector(): Promise<void> {
    await projector.kill();
    await projector.start('projector');
  },
];

/** What is wrong with what somebody has read, in numbers: none of it is. */
const faultsOf = ({ name, place: { organization }, shelf: { entries } }: Reader, wanted: readonly string[]) => {
  const known = new Set(wanted);
  const read = new Set(entries.map(({ id }) => id));
  // The timestamps are in the order of the log.
  const inOrder = entries.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1)).map(({ id }) => id);
  return {
    reader: `${name} of ${organization.name}`,
    lost: wanted.filter((id) => !read.has(id)).length,
    double: entries.length - read.size,
    unknown: [...read].filter((id) => !known.has(id)).length,
    foreign: entries.filter(({ auth }) => auth.organization_id !== organization.id).length,
    isInOrder: isDeepStrictEqual(inOrder, wanted),
  };
};

describe('those who read trails', () => {
  it(
    'have every entry once, while twenty write, a projector and gateways are killed, and they are themselves',
    async () => {
      const api = createApiTestClient(url(), ADMIN);
      const places: Place[] = [];
      for (const name of ['acme', 'globex', 'pruned']) {
        const organization = await makeOrganization(api, name);
        places.push({ organization, token: await makeOrganizationToken(api, name) });
      }
      await Promise.all(
        places.map(async (place) => {
          for (let n = 0; n < EARLIER; n += 500) expect(await report(place, numbersFrom(n, 500))).toBe(true);
        }),
      );
      const pruned = places.pop() as Place;
      let seed = 0;
      const chance = (): Chance => chanceOf((seed += 1));
      let phase: Phase = 'writing';
      const now = (): Phase => phase;
      const end = Date.now() + WRITING_MS;
      const readers = places.flatMap((place) =>
        Object.entries(POLLS).map(([name, poll]) => new Reader(name, place, poll, chance())),
      );
      const clients = places.map((place) => clientsOf(place, chance()));
      for (const each of clients) each.start(CLIENTS);
      const services = Promise.all(places.map((place) => serve(place, chance(), now)));
      const reading = Promise.all(readers.map((reader) => reader.live(now)));
      const visiting = visitPruned(pruned, () => phase === 'writing');
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
      const wanted = new Map(
        places.map(({ organization: { id } }) => [id, auditedOf(log, id).map((event) => event.id)]),
      );
      const faulty = readers.map((reader) => faultsOf(reader, wanted.get(reader.place.organization.id) ?? []));
      const none = { lost: 0, double: 0, unknown: 0, foreign: 0, isInOrder: true };
      expect(faulty).toEqual(faulty.map(({ reader }) => ({ reader, ...none })));
      expect(readers.filter(({ polls }) => polls.killed > 0).length).toBeGreaterThan(0);
      const visits = await visiting;
      const told = auditedOf(log, pruned.organization.id).map((event) => event.id);
      expect(findMissedEntries(visits, told)).toEqual([]);
      // How many visits fit into the pruning depends on the machine; two were seen beside another test run.
      expect(visits.length).toBeGreaterThan(0);
    },
    LONG,
  );
});

import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { readWholeTopic, startKafka, toTable, type TestKafka, type TopicMessage } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectStatus, makeMember, makeOrganization, makeWorkspace, type SeededMember } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { readShownDocuments } from '../support/shown-documents.js';

const LONG = 240_000;
const ENCRYPTION_KEY = randomBytes(32).toString('base64');
const WORKSPACES = 3;
/** Without pauses, most of the CPU goes to changes while a publisher starts, and to their messages. */
const PAUSE_MS = 20;

let database: TestDatabase;
let kafka: TestKafka;
let gateway: Product;
let owner: SeededMember;
let workspaces: readonly string[];
const products: Product[] = [];

const launch = async (): Promise<Product> => {
  const product = await launchProduct({
    DATABASE_URL: database.url,
    CADASTRE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    CADASTRE_PUBLIC_URL: 'http://localhost:8443',
    KAFKA_BROKERS: kafka.brokers.join(','),
  });
  products.push(product);
  return product;
};

type RunningPublisher = ReturnType<Product['spawn']> & { readonly url: string };

/** Starts a publisher, without waiting until it is ready. */
const startPublisher = async (): Promise<RunningPublisher> => {
  const product = await launch();
  const child = product.spawn('publisher');
  return { ended: child.ended, kill: (signal) => child.kill(signal), url: product.url };
};

/** Returns the sum of a metric over its labels; 0 while the process does not respond. */
const readMetric = async ({ url }: RunningPublisher, pattern: RegExp): Promise<number> => {
  const response = await fetch(`${url}/metrics`).catch(() => null);
  if (!response) return 0;
  const lines = (await response.text()).split('\n').filter((line) => pattern.test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
};

const SENT_EVENTS = /^cadastre_kafka_sent_messages_total\{topic="cadastre\.workspaces"\}/;
const SENT_DOCUMENTS = /^cadastre_kafka_sent_messages_total\{topic="cadastre\.workspaces\.state"\}/;
const FAILURES = /^cadastre_follower_failures_total\{follower="(?:publisher|state_topics)"\}/;
const BACKLOG = /^cadastre_follower_backlog_events\{follower="(?:publisher|state_topics)"\}/;

/** Locks and unlocks workspaces until it is stopped. */
const startLoad = () => {
  let isStopping = false;
  let changes = 0;
  const loops = workspaces.map(async (id) => {
    while (!isStopping)
      for (const action of ['lock', 'unlock']) {
        expectStatus(await owner.post(`/api/v2/workspaces/${id}/actions/${action}`, {}), 200);
        changes += 1;
        await wait(PAUSE_MS);
      }
  });
  // A failure is reported by `stop`.
  for (const loop of loops) loop.catch(() => undefined);
  return {
    /** Resolves after this many further changes. */
    pass: async (more: number): Promise<void> => {
      const target = changes + more;
      await waitUntil(() => changes >= target, `${more} further changes are made`);
    },
    stop: async (): Promise<void> => {
      isStopping = true;
      await Promise.all(loops);
    },
  };
};

/** Returns the versions of each stream, without those that the topic has already shown. */
const listNewVersions = (messages: readonly TopicMessage[]): ReadonlyMap<string, readonly number[]> => {
  const versions = new Map<string, number[]>();
  const ids = new Set<string>();
  for (const { key, headers } of messages) {
    if (ids.has(headers['ce_id'] ?? '')) continue;
    ids.add(headers['ce_id'] ?? '');
    versions.set(key ?? '', [...(versions.get(key ?? '') ?? []), Number(headers['ce_version'])]);
  }
  return versions;
};

const expectCompleteTopics = async (publisher: RunningPublisher): Promise<void> => {
  await waitUntil(
    async () => (await readMetric(publisher, SENT_DOCUMENTS)) > 0 && (await readMetric(publisher, BACKLOG)) === 0,
    'everything is published',
  );
  const versions = listNewVersions(await readWholeTopic(kafka.brokers, 'cadastre.workspaces'));
  for (const id of workspaces) {
    const own = versions.get(id) ?? [];
    expect(own).toEqual(own.map((_, n) => n + 1));
    // Locks and unlocks come in pairs, after the creation.
    expect(own.length % 2).toBe(1);
  }
  const states = await readWholeTopic(kafka.brokers, 'cadastre.workspaces.state');
  for (const [, own] of Map.groupBy(states, ({ key }) => key)) {
    const positions = own.map(({ headers }) => Number(headers['ce_position']));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  }
  const documents = await readShownDocuments(owner, 'acme');
  expect(toTable(states)).toEqual(documents['workspaces.state']);
  for (const topic of ['organizations.state', 'tags.state'])
    expect(toTable(await readWholeTopic(kafka.brokers, `cadastre.${topic}`))).toEqual(documents[topic]);
};

beforeAll(async () => {
  [database, kafka] = await Promise.all([freshDatabase(), startKafka()]);
  gateway = await launch();
  await gateway.start('gateway');
  const admin = createApiTestClient(gateway.url, gateway.adminToken);
  const { ownersTeam } = await makeOrganization(admin, 'acme');
  owner = await makeMember(admin, 'acme', 'olga', [ownersTeam]);
  const names = Array.from({ length: WORKSPACES }, (_, n) => `ws-${n}`);
  workspaces = await Promise.all(names.map((name) => makeWorkspace(owner, 'acme', name)));
}, LONG);

afterAll(async () => {
  for (const product of products) await product.remove();
  await kafka?.stop();
  await database?.drop();
}, LONG);

describe('publishers', () => {
  it(
    'lose nothing and keep the order if one is stopped under load, another takes over, and the first continues',
    async () => {
      const first = await startPublisher();
      const load = startLoad();
      await waitUntil(
        async () => (await readMetric(first, SENT_EVENTS)) > 0 && (await readMetric(first, SENT_DOCUMENTS)) > 0,
        'the first publisher publishes',
      );
      const second = await startPublisher();
      await waitForTopics(kafka.brokers, ['cadastre.workspaces.state']);
      await load.pass(200);
      first.kill('SIGSTOP');
      await waitUntil(
        async () => (await readMetric(second, SENT_EVENTS)) > 0 && (await readMetric(second, SENT_DOCUMENTS)) > 0,
        'the second publisher has taken over',
      );
      await load.pass(200);
      first.kill('SIGCONT');
      await waitUntil(
        async () => (await readMetric(first, FAILURES)) >= 1,
        'the first publisher has noticed that it does not lead any more',
      );
      await load.pass(200);
      await load.stop();
      await expectCompleteTopics(second);
      first.kill('SIGKILL');
      second.kill('SIGKILL');
      await Promise.all([first.ended, second.ended]);
    },
    LONG,
  );

  it(
    'that are killed under load lose nothing, and the state topics equal the API afterwards',
    async () => {
      const load = startLoad();
      for (let kill = 0; kill < 3; kill += 1) {
        const publisher = await startPublisher();
        await waitUntil(async () => (await readMetric(publisher, SENT_DOCUMENTS)) > 0, 'the publisher publishes');
        await load.pass(50);
        publisher.kill('SIGKILL');
        await publisher.ended;
      }
      await load.stop();
      const last = await startPublisher();
      // A change after the start shows that the last publisher works.
      await makeWorkspace(owner, 'acme', 'last');
      await expectCompleteTopics(last);
      last.kill('SIGKILL');
      await last.ended;
    },
    LONG,
  );
});

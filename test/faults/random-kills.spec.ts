import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { RecordedEvent } from '#platform/kernel';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import { listTopics } from '#storage/message-log';
import { eventRegistry } from '../../apps/modules.js';
import { BUILD, DATA } from '../support/folders.js';
import { readWholeTopic, toTable } from '../support/kafka/index.js';
import { startKafkaCluster, type TestKafkaCluster } from '../support/kafka/java-broker.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeMember } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { readShownDocuments } from '../support/shown-documents.js';
import { quiet } from '../support/silent-logger.js';
import { expectNothingLost, startBackgroundLoad, type BackgroundLoad } from './background-load.js';
import { keepRunning, type KeptProcess } from './kept-process.js';
import { expectTopicsToHave } from './recorded-log.js';

/** The number of targets in `npm test`. */
const KILLS = countRounds(6);
const LONG = scaleLimit(360_000);
const PREFIX = 'site';
const STATE_TOPIC = `${PREFIX}.workspaces.state`;

let site: string;
let folder: string;
let encryptionKey: string;
let postgres: EmbeddedPostgres;
let kafka: TestKafkaCluster;
let gateway: Product;
let gate = Promise.withResolvers<void>();
let work: BackgroundLoad;
const products: Product[] = [];
const settings = (): Readonly<Record<string, string>> => ({
  DATABASE_URL: postgres.url,
  CADASTRE_ENCRYPTION_KEY: encryptionKey,
  CADASTRE_PUBLIC_URL: 'http://localhost:8443',
  CADASTRE_TOPIC_PREFIX: PREFIX,
  KAFKA_BROKERS: kafka.brokers.join(),
});

const launch = async (): Promise<Product> => {
  const product = await launchProduct(settings());
  products.push(product);
  return product;
};

const keptProcesses: KeptProcess[] = [];

const keep = (...[start]: Parameters<typeof keepRunning>): KeptProcess => {
  const one = keepRunning(start);
  keptProcesses.push(one);
  return one;
};

const keepProduct = async (name: 'projector' | 'publisher'): Promise<KeptProcess> => {
  const product = await launch();
  return keep(() => product.spawn(name));
};

const consumerDatabase = (): string => postgres.url.replace(/\/[^/]*$/, '/consumer');

/** Starts the service that copies events and documents, in a process of its own. */
const keepConsumer = (): KeptProcess =>
  keep(() => {
    const program = spawn(process.execPath, [join(BUILD, 'dist/test/faults/copying-consumer.js')], {
      env: {
        PATH: process.env['PATH'],
        KAFKA_BROKERS: kafka.brokers.join(),
        DATABASE_URL: consumerDatabase(),
        EVENT_TOPICS: listTopics(eventRegistry, PREFIX).join(),
        STATE_TOPIC,
      },
      stdio: 'ignore',
    });
    return { ended: once(program, 'exit'), kill: (signal) => void program.kill(signal) };
  });

const killPostgres = (): void => {
  const [pid = ''] = contentOf(join(folder, 'cluster/postmaster.pid')).split('\n');
  process.kill(Number.parseInt(pid, 10), 'SIGKILL');
};

/** Kills a broker, and starts it again after further writes, which the other two must carry. */
const killBroker = async (): Promise<string> => {
  const n = randomInt(kafka.nodes.length);
  await kafka.nodes[n]?.kill();
  await work.clients.acknowledged(20);
  await kafka.nodes[n]?.restart();
  return `broker ${n + 1} of ${kafka.nodes.length}`;
};

const killGateway = async (): Promise<string> => {
  await gateway.kill();
  gate = Promise.withResolvers<void>();
  await gateway.start('gateway');
  gate.resolve();
  return 'the gateway';
};

const openConsumerDatabase = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: consumerDatabase() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

type CopiedEvent = { readonly id: string; readonly stream: string; readonly version: number };

const readCopiedEvents = (): Promise<readonly CopiedEvent[]> =>
  openConsumerDatabase(
    async (client) => (await client.query<CopiedEvent>('select id, stream, version from events order by n')).rows,
  );

const readCopiedDocuments = (): Promise<ReadonlyMap<string, unknown>> =>
  openConsumerDatabase(async (client) => {
    const { rows } = await client.query<{ id: string; document: unknown }>('select id, document from documents');
    return new Map(rows.map(({ id, document }) => [id, document]));
  });

const expectCopiedEvents = async (log: readonly RecordedEvent[]): Promise<readonly CopiedEvent[]> => {
  await waitUntil(async () => (await readCopiedEvents()).length >= log.length, 'the consumer has all events');
  const copied = await readCopiedEvents();
  expect(copied.map(({ id }) => id).toSorted()).toEqual(log.map(({ id }) => id).toSorted());
  for (const [stream, events] of Map.groupBy(copied, (event) => event.stream))
    expect({ stream, versions: events.map(({ version }) => version) }).toEqual({
      stream,
      versions: events.map((_, n) => n + 1),
    });
  return copied;
};

/** Expects the state topic and the copy of the consumer to equal what the API shows an owner. */
const expectCopiedDocuments = async (): Promise<number> => {
  const { ownersTeam } = work.organization;
  const owner = await makeMember(createApiTestClient(gateway.url, gateway.adminToken), 'acme', 'olga', [ownersTeam]);
  const expected = (await readShownDocuments(owner, 'acme'))['workspaces.state'] ?? new Map();
  const isEqual = (copied: ReadonlyMap<string, unknown>): boolean =>
    copied.size === expected.size &&
    [...expected].every(([id, { data }]) => versionOf(copied.get(id)) === versionOf({ data }));
  await waitUntil(async () => isEqual(await readCopiedDocuments()), 'the consumer has the last documents');
  expect(await readCopiedDocuments()).toEqual(expected);
  expect(toTable(await readWholeTopic(kafka.brokers, STATE_TOPIC))).toEqual(expected);
  return expected.size;
};

const versionOf = (document: any): string => document?.data?.attributes?.['updated-at'];

const print = (line: string): void => void process.stdout.write(`  ${line}\n`);

beforeAll(async () => {
  site = await mkdtemp(join(DATA, 'cadastre-postgres-'));
  folder = join(site, 'postgres');
  encryptionKey = await copyPreparedPostgres(site);
  [postgres, kafka] = await Promise.all([startEmbeddedPostgres({ folder, logger: quiet }), startKafkaCluster(3)]);
  const administrator = new pg.Client({ connectionString: postgres.url });
  await administrator.connect();
  await administrator.query('create database consumer');
  await administrator.end();
  gateway = await launch();
  await gateway.start('gateway');
}, LONG);

afterAll(async () => {
  for (const one of keptProcesses) await one.stop();
  for (const product of products) await product.remove();
  await kafka?.stop();
  await postgres?.stop();
  await rm(site, { recursive: true, force: true });
}, LONG);

describe('kill -9 of each process, of Postgres and of one of three brokers under load', () => {
  it(
    'loses nothing, doubles nothing and keeps the order of every stream',
    async () => {
      const [projector, publisher] = [await keepProduct('projector'), await keepProduct('publisher')];
      gate.resolve();
      work = await startBackgroundLoad(
        gateway,
        () => Promise.resolve(postgres.url),
        () => gate.promise,
      );
      await waitForTopics(kafka.brokers, [...listTopics(eventRegistry, PREFIX), STATE_TOPIC]);
      const consumer = keepConsumer();
      const kills: (() => Promise<string>)[] = [
        killGateway,
        killBroker,
        () => Promise.resolve(killPostgres()).then(() => 'Postgres'),
        () => Promise.resolve(projector.kill()).then(() => 'the projector'),
        () => Promise.resolve(publisher.kill()).then(() => 'the publisher'),
        () => Promise.resolve(consumer.kill()).then(() => 'the consumer'),
      ];
      let waiting: typeof kills = [];
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await work.clients.acknowledged(randomInt(1, 60));
        if (waiting.length === 0) waiting = [...kills];
        const [next] = waiting.splice(randomInt(waiting.length), 1);
        print(`kill ${kill} of ${KILLS}: ${await next?.()}`);
      }
      await work.clients.acknowledged(30);
      await work.clients.stop();
      const log = await expectNothingLost(work);
      await expectTopicsToHave(kafka.brokers, PREFIX, log);
      const copied = await expectCopiedEvents(log);
      const documents = await expectCopiedDocuments();
      const { ledger } = work.clients;
      print(
        `${ledger.lines.length} writes sent, ${ledger.count('acknowledged')} acknowledged, ${ledger.count('unknown')} without ` +
          `a response; ${log.length} events in the log and in Kafka, ${copied.length} at the consumer; ${documents} documents`,
      );
    },
    LONG,
  );
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka, Message } from 'kafkajs';
import pg from 'pg';
import { createKafkaClient } from '#storage/message-log';
import { sendToTopic, startKafka, type TestKafka } from '../../../test/support/kafka/index.js';
import { waitForTopics } from '../../../test/support/kafka/topic-reader.js';
import { unmigratedDatabase, type TestDatabase } from '../../../test/support/database.js';
import { waitUntil } from '../../../test/support/product.js';
import { quiet } from '../../../test/support/silent-logger.js';
import { handleDocuments, type DocumentResource } from './document-handler.js';
import { handleEvents, type EventHandlers } from './event-handlers.js';
import { TransactionalConsumer, type ConsumerOptions } from './transactional-consumer.js';

let broker: TestKafka;
let kafka: Kafka;
let testDatabase: TestDatabase;
let database: pg.Pool;
let topic: string;
let number = 0;
const open: TransactionalConsumer[] = [];
const warnings: string[] = [];

beforeAll(async () => {
  broker = await startKafka();
  kafka = createKafkaClient({ brokers: broker.brokers, clientId: 'test' }, quiet);
});

beforeEach(async () => {
  testDatabase = await unmigratedDatabase();
  database = new pg.Pool({ connectionString: testDatabase.url });
  // The pool has ended before its connections are closed, and dropping the database ends those with an error.
  database.on('error', () => undefined);
  await database.query('create table locks (n serial, workspace text, version int, consumer text)');
  topic = `site-${(number += 1)}.workspaces`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 3 }] });
  await admin.disconnect();
  await waitForTopics(broker.brokers, [topic]);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((consumer) => consumer.stop()));
  await database.end();
  await testDatabase.drop();
  warnings.length = 0;
});

afterAll(() => broker.stop());

const lockedOf = (workspace: string, version: number, more: Readonly<Record<string, string>> = {}): Message => ({
  key: workspace,
  value: JSON.stringify({ holder: { type: 'users', id: 'user-1', name: 'ada' }, reason: `${version}` }),
  headers: {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: `${workspace}-${version}`,
    ce_type: 'cadastre.WorkspaceLocked.v1',
    ce_source: 'https://cadastre.example.com',
    ce_time: '2026-01-01T00:00:00Z',
    ce_stream: workspace,
    ce_version: String(version),
    ce_position: String(version),
    ce_authtype: 'user',
    ce_authid: 'user-1',
    ...more,
  },
});

const lockEvents = (workspaces: number, from: number, to: number): Message[] =>
  Array.from({ length: to - from }, (_, n) => n + from).flatMap((version) =>
    Array.from({ length: workspaces }, (_, workspace) => lockedOf(`ws-${workspace}`, version)),
  );

const send = (messages: readonly Message[]): Promise<void> => sendToTopic(broker.brokers, topic, messages);

const insertLocks = (consumer = 'one'): EventHandlers => ({
  WorkspaceLocked: async ({ stream, version }, client) => {
    await client.query('insert into locks (workspace, version, consumer) values ($1, $2, $3)', [
      stream,
      version,
      consumer,
    ]);
  },
});

const start = async (
  handlers: EventHandlers,
  options: Partial<ConsumerOptions> = {},
): Promise<TransactionalConsumer> => {
  const consumer = new TransactionalConsumer({
    kafka,
    database,
    name: `inventory-${number}`,
    topics: [topic],
    handle: handleEvents({ handlers }),
    logger: { warn: (message) => void warnings.push(message) },
    ...options,
  });
  open.push(consumer);
  await consumer.start();
  return consumer;
};

const stop = async (consumer: TransactionalConsumer): Promise<void> => {
  open.splice(open.indexOf(consumer), 1);
  await consumer.stop();
};

const readLocks = async (): Promise<Readonly<Record<string, readonly number[]>>> => {
  const { rows } = await database.query<{ workspace: string; versions: number[] }>(
    'select workspace, array_agg(version order by n) as versions from locks group by workspace order by workspace',
  );
  return Object.fromEntries(rows.map(({ workspace, versions }) => [workspace, versions]));
};

const countLocks = async (): Promise<number> =>
  Number((await database.query<{ count: string }>('select count(*) from locks')).rows[0]?.count);

/** Returns how many records are behind the stored offsets: each partition begins at 0, and has no gaps. */
const countHandled = async (): Promise<number> =>
  Number(
    (await database.query<{ sum: string }>('select sum(next_offset) from cadastre_consumer.offsets')).rows[0]?.sum,
  );

const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, n) => n + from);

describe('a transactional consumer', () => {
  it('handles each event once, in the order of its stream, also after a restart', async () => {
    await send(lockEvents(5, 1, 101));
    const first = await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 500, '500 locks are stored');
    await stop(first);
    await send(lockEvents(5, 101, 201));
    await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 1_000, '1,000 locks are stored');
    expect(await readLocks()).toEqual(Object.fromEntries(range(0, 5).map((n) => [`ws-${n}`, range(1, 201)])));
  });

  it('skips events that were published twice', async () => {
    await send([...lockEvents(2, 1, 4), ...lockEvents(2, 2, 6)]);
    await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 10, '10 locks are stored');
    expect(await readLocks()).toEqual({ 'ws-0': range(1, 6), 'ws-1': range(1, 6) });
  });

  it('continues at the offset in Postgres, whatever Kafka has stored', async () => {
    await send(lockEvents(3, 1, 11));
    const first = await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 30, '30 locks are stored');
    await stop(first);
    // As after a restored backup of the consumer's database.
    await database.query('truncate locks');
    await database.query('truncate cadastre_consumer.offsets, cadastre_consumer.streams');
    await send(lockEvents(3, 11, 12));
    await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 33, '33 locks are stored');
    expect(await readLocks()).toEqual(Object.fromEntries(range(0, 3).map((n) => [`ws-${n}`, range(1, 12)])));
  });

  it('reads a topic again after a reset, without new records', async () => {
    await send(lockEvents(3, 1, 3));
    const first = await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 6, '6 locks are stored');
    await expect(first.start()).rejects.toThrow('the consumer is running');
    await first.stop();
    await first.resetTopic(topic);
    await first.start();
    await waitUntil(async () => (await countLocks()) >= 12, '12 locks are stored');
    expect(await readLocks()).toEqual(Object.fromEntries(range(0, 3).map((n) => [`ws-${n}`, [1, 2, 1, 2]])));
  });

  it('handles again what Postgres has lost in a failover', async () => {
    await send(lockEvents(1, 1, 11));
    await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 10, '10 locks are stored');
    // A standby that had not received the last five commits takes over.
    await database.query('delete from locks where version > 5');
    await database.query('update cadastre_consumer.streams set version = 5');
    await database.query('update cadastre_consumer.offsets set next_offset = next_offset - 5 where next_offset > 0');
    await send(lockEvents(1, 11, 13));
    await waitUntil(async () => (await countLocks()) >= 12, '12 locks are stored');
    expect(await readLocks()).toEqual({ 'ws-0': range(1, 13) });
  });

  it('handles again what Postgres has lost in a failover while a record is retried', async () => {
    let loss: Promise<unknown> | null = null;
    let isLost = false;
    const lose = async (): Promise<void> => {
      await database.query(`
        delete from locks where version > 2;
        update cadastre_consumer.streams set version = 2;
        update cadastre_consumer.offsets set next_offset = next_offset - 2 where next_offset > 0`);
      isLost = true;
    };
    await send(lockEvents(1, 1, 5));
    await start(
      {
        WorkspaceLocked: async (event, client) => {
          if (event.version === 5 && !isLost) throw new Error('no paper');
          await insertLocks().WorkspaceLocked?.(event, client);
        },
      },
      {
        attempts: 1_000,
        logger: {
          warn: (message) => {
            if (message.endsWith('no paper')) loss ??= lose();
          },
        },
      },
    );
    await waitUntil(async () => (await countLocks()) >= 4, '4 locks are stored');
    await send(lockEvents(1, 5, 6));
    await waitUntil(async () => isLost && (await countLocks()) >= 5, '5 locks are stored');
    expect(await readLocks()).toEqual({ 'ws-0': range(1, 6) });
  });

  it('warns that resetTopic() is necessary if the topic was created again', async () => {
    await send(lockEvents(1, 1, 3));
    const first = await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 2, '2 locks are stored');
    await stop(first);
    await database.query('update cadastre_consumer.offsets set next_offset = 100 where next_offset > 0');
    const second = await start(insertLocks());
    await send(lockEvents(1, 1, 2));
    await waitUntil(() => warnings.some((warning) => warning.includes('call resetTopic()')), 'a warning');
    await second.resetTopic(topic);
    await waitUntil(async () => (await countLocks()) >= 4, 'the topic is handled from its beginning');
    expect(await readLocks()).toEqual({ 'ws-0': [1, 2, 1, 2] });
  });

  it('warns if Kafka has deleted records that it has not handled, and continues', async () => {
    await send(lockEvents(1, 1, 3));
    const consumer = await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 2, '2 locks are stored');
    await consumer.stop();
    await send(lockEvents(1, 3, 8));
    const { rows } = await database.query<{ partition: number; next_offset: string }>(
      'select partition, next_offset from cadastre_consumer.offsets where next_offset > 0',
    );
    const [row] = rows;
    if (!row) throw new Error('no offset is stored');
    const { partition, next_offset: next } = row;
    const admin = kafka.admin();
    await admin.connect();
    // Loads the metadata of the topic, which deleteTopicRecords of kafkajs needs.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(Number(next) + 4) }] });
    await admin.disconnect();
    await consumer.start();
    await waitUntil(async () => (await countLocks()) >= 3, '3 locks are stored');
    await waitUntil(() => warnings.length >= 2, 'both warnings');
    expect(warnings.toSorted()).toEqual([
      `${topic}/${partition} begins at ${Number(next) + 4}, and this consumer has read up to ${next}: ` +
        'Kafka has deleted records that it has not handled',
      `the stream ws-0 of ${topic} continues at version 7 instead of 3: events are missing, ` +
        'or the record is not from Cadastre. Gaps since the start: 1',
    ]);
  });

  it('waits while the brokers are unavailable, and continues without a restart', async () => {
    await send(lockEvents(1, 1, 3));
    await start(insertLocks());
    await waitUntil(async () => (await countLocks()) >= 2, '2 locks are stored');
    await broker.kill();
    await waitUntil(() => warnings.some((warning) => /the group: /.test(warning)), 'the consumer has left the group');
    await broker.restart();
    await send(lockEvents(1, 3, 5));
    await waitUntil(async () => (await countLocks()) >= 4, '4 locks are stored');
    expect(await readLocks()).toEqual({ 'ws-0': range(1, 5) });
  });

  it.each([{ attempts: 0 }, { recordsPerTransaction: Number.NaN }])('refuses %j', async (options) => {
    await expect(start({}, options)).rejects.toThrow('must be a whole number from 1 up');
  });

  it('refuses an empty list of topics, and a topic that does not exist', async () => {
    await expect(start({}, { topics: [] })).rejects.toThrow('topics must name at least one topic');
    await expect(start({}, { topics: [topic, 'site-0.lamps'] })).rejects.toThrow(
      /the topics site-0\.lamps do not exist/,
    );
  });

  it('shares partitions with other processes, and takes over those of one that stops', async () => {
    const first = await start(insertLocks('first'));
    await start(insertLocks('second'));
    await send(lockEvents(20, 1, 21));
    await waitUntil(async () => (await countLocks()) >= 400, '400 locks are stored');
    await stop(first);
    await send(lockEvents(20, 21, 41));
    await waitUntil(async () => (await countLocks()) >= 800, '800 locks are stored');
    expect(await readLocks()).toEqual(Object.fromEntries(range(0, 20).map((n) => [`ws-${n}`, range(1, 41)])));
    const { rows } = await database.query('select 1 from locks where version > 20 and consumer <> $1', ['second']);
    expect(rows).toEqual([]);
  });

  it('undoes what a failed attempt wrote, and tries again', async () => {
    let failures = 0;
    await send(lockEvents(1, 1, 4));
    await start({
      WorkspaceLocked: async (event, client) => {
        await insertLocks().WorkspaceLocked?.(event, client);
        if (event.version === 2 && (failures += 1) < 3) throw new Error('no paper');
      },
    });
    await waitUntil(async () => (await countLocks()) >= 3, '3 locks are stored');
    expect(await readLocks()).toEqual({ 'ws-0': [1, 2, 3] });
    expect(warnings.some((warning) => warning.endsWith('failed: no paper'))).toBe(true);
  });
});

describe('a dead letter', () => {
  it('holds up only its own stream, which continues in order after a retry', async () => {
    let isBroken = true;
    const handlers: EventHandlers = {
      WorkspaceLocked: async (event, client) => {
        if (isBroken && event.stream === 'ws-1' && event.version === 2) throw new Error('no paper');
        await insertLocks().WorkspaceLocked?.(event, client);
      },
    };
    await send(lockEvents(3, 1, 5));
    const consumer = await start(handlers, { attempts: 2 });
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 3, 'three dead letters are stored');
    await waitUntil(async () => (await countLocks()) >= 9, 'the other locks are stored');
    expect(await readLocks()).toEqual({ 'ws-0': range(1, 5), 'ws-1': [1], 'ws-2': range(1, 5) });
    const letters = await consumer.listDeadLetters();
    expect(letters.map(({ key, error, isWaiting }) => [key, error, isWaiting])).toEqual([
      ['ws-1', 'no paper', false],
      ['ws-1', 'waits for an earlier record of its key', true],
      ['ws-1', 'waits for an earlier record of its key', true],
    ]);
    expect(await consumer.retryDeadLetters()).toEqual({ handled: 0, left: 3 });
    expect(await consumer.listDeadLetters({ limit: 1 })).toEqual(letters.slice(0, 1));
    isBroken = false;
    expect(await consumer.retryDeadLetters()).toEqual({ handled: 3, left: 0 });
    expect(await readLocks()).toMatchObject({ 'ws-1': range(1, 5) });
  });

  it('can be discarded, so that the records behind it are handled', async () => {
    await send([lockedOf('ws-0', 1), { key: 'ws-0', value: '{' }, lockedOf('ws-0', 2)]);
    const consumer = await start(insertLocks());
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 2, 'two dead letters are stored');
    const [letter] = await consumer.listDeadLetters();
    if (!letter) throw new Error('no dead letter is stored');
    expect(await consumer.discardDeadLetter(letter)).toBe(true);
    expect(await consumer.discardDeadLetter(letter)).toBe(false);
    expect(await consumer.retryDeadLetters()).toEqual({ handled: 1, left: 0 });
    expect(await readLocks()).toEqual({ 'ws-0': [1, 2] });
  });

  /** Sends a record and a dead letter for each of two streams. Returns the consumer and its letters, those of ws-0 first. */
  const createLetters = async () => {
    let isBroken = true;
    await send(lockEvents(2, 1, 2));
    const consumer = await start(
      {
        WorkspaceLocked: async (event, client) => {
          if (isBroken) throw new Error('no paper');
          await insertLocks().WorkspaceLocked?.(event, client);
        },
      },
      { attempts: 1 },
    );
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 2, 'two dead letters are stored');
    const letters = (await consumer.listDeadLetters()).toSorted((a, b) => (a.key ?? '').localeCompare(b.key ?? ''));
    isBroken = false;
    return { consumer, letters };
  };

  it('is not counted as handled if another process removed it during the retry', async () => {
    const { consumer, letters } = await createLetters();
    const other = await database.connect();
    await other.query('begin; select from cadastre_consumer.offsets for update');
    const retrying = consumer.retryDeadLetters();
    const isWaiting = async (): Promise<boolean> =>
      (await database.query('select 1 from pg_stat_activity where wait_event_type = $1', ['Lock'])).rowCount === 1;
    await waitUntil(isWaiting, 'the retry waits for the partition of a dead letter');
    await other.query('delete from cadastre_consumer.dead_letters; commit');
    other.release();
    expect(letters).toHaveLength(2);
    expect(await retrying).toEqual({ handled: 0, left: 0 });
    expect(await readLocks()).toEqual({});
  });

  it.each(['40P01', '55P03'])(
    'fails at a retry after conflicts with other transactions (%s), and other keys are handled',
    async (code) => {
      const { consumer, letters } = await createLetters();
      await database.query(`
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'conflict' using errcode = '${code}'; end $$;
      create trigger refuse before insert on cadastre_consumer.offsets
        for each row when (new.partition = ${letters[0]?.partition}) execute function refuse()`);
      expect(await consumer.retryDeadLetters()).toEqual({ handled: 1, left: 1 });
      expect(warnings).toContainEqual(expect.stringMatching(/^record \d+ of .* failed again: conflict$/));
      expect(await readLocks()).toEqual({ 'ws-1': [1] });
    },
  );

  it('rejects the retry if Postgres stays unavailable', async () => {
    const { consumer } = await createLetters();
    await database.query(`
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$;
      create trigger refuse before insert on cadastre_consumer.offsets for each row execute function refuse()`);
    await expect(consumer.retryDeadLetters()).rejects.toThrow('no space left on device');
    expect(await consumer.listDeadLetters()).toHaveLength(2);
  });

  it('stays as it is if its record is read again', async () => {
    await send([{ key: 'ws-0', value: '{' }, lockedOf('ws-0', 1), lockedOf('ws-0', 2)]);
    const first = await start(insertLocks());
    await waitUntil(async () => (await first.listDeadLetters()).length >= 3, 'three dead letters are stored');
    const letters = await first.listDeadLetters();
    await stop(first);
    await database.query('truncate cadastre_consumer.offsets, cadastre_consumer.streams');
    const second = await start(insertLocks());
    await waitUntil(async () => (await countHandled()) >= 3, 'the records are read again');
    expect(await second.listDeadLetters()).toEqual(letters);
  });

  it('can be listed before the first start', async () => {
    const consumer = new TransactionalConsumer({
      kafka,
      database,
      name: 'new',
      topics: [topic],
      handle: () => Promise.resolve(),
    });
    expect(await consumer.listDeadLetters()).toEqual([]);
    expect(await consumer.retryDeadLetters()).toEqual({ handled: 0, left: 0 });
  });

  it('is a record that no attempt can read', async () => {
    await send([
      { key: 'ws-0', value: '{' },
      lockedOf('ws-1', 1, { ce_type: 'cadastre.WorkspaceLocked.v2' }),
      lockedOf('ws-2', 1),
    ]);
    const consumer = await start(insertLocks(), { attempts: 1_000 });
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 2, 'two dead letters are stored');
    await waitUntil(async () => (await countLocks()) >= 1, 'the other lock is stored');
    const errors = (await consumer.listDeadLetters()).map(({ key, error }) => [key, error]);
    expect(Object.fromEntries(errors)).toEqual({
      'ws-0': 'value: must be JSON in UTF-8, got 1 other bytes',
      'ws-1': 'WorkspaceLocked has schema version 2, and this package reads up to 1. Update it, then retry',
    });
  });

  it('is a record whose handler ignored an error of Postgres, also at a retry', async () => {
    await send(lockEvents(1, 1, 3));
    const consumer = await start(
      {
        WorkspaceLocked: async (event, client) => {
          await insertLocks().WorkspaceLocked?.(event, client);
          if (event.version === 1) await client.query('select 1 / 0').catch(() => undefined);
        },
      },
      { attempts: 2 },
    );
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 2, 'two dead letters are stored');
    expect(await consumer.retryDeadLetters()).toEqual({ handled: 0, left: 2 });
    expect(await readLocks()).toEqual({});
  });

  it('can have any bytes in its headers and its error', async () => {
    await send([lockedOf('ws-0', 1, { other: 'a\0b' }), lockedOf('ws-1', 1)]);
    const consumer = await start(
      {
        WorkspaceLocked: async (event, client) => {
          if (event.stream === 'ws-0') throw new Error('no\0paper');
          await insertLocks().WorkspaceLocked?.(event, client);
        },
      },
      { attempts: 1 },
    );
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 1, 'the dead letter is stored');
    await waitUntil(async () => (await countLocks()) >= 1, 'the other lock is stored');
    expect((await consumer.listDeadLetters()).map(({ error }) => error)).toEqual(['no\u{FFFD}paper']);
    expect(await consumer.retryDeadLetters()).toEqual({ handled: 0, left: 1 });
  });

  it('is a record whose handler reaches nothing, and other streams continue after it', async () => {
    await send(lockEvents(2, 1, 2));
    const consumer = await start(
      {
        WorkspaceLocked: async (event, client) => {
          if (event.stream === 'ws-0') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
          await insertLocks().WorkspaceLocked?.(event, client);
        },
      },
      { attempts: 2 },
    );
    await waitUntil(async () => (await consumer.listDeadLetters()).length >= 1, 'the dead letter is stored');
    await waitUntil(async () => (await countLocks()) >= 1, 'the other lock is stored');
    expect(await readLocks()).toEqual({ 'ws-1': [1] });
  });

  it('is never a record that failed because Postgres was away', async () => {
    let cuts = 0;
    await send(lockEvents(1, 1, 3));
    const consumer = await start(
      {
        WorkspaceLocked: async (event, client) => {
          if ((cuts += 1) < 4) await client.query('select pg_terminate_backend(pg_backend_pid())');
          await insertLocks().WorkspaceLocked?.(event, client);
        },
      },
      { attempts: 1 },
    );
    await waitUntil(async () => (await countLocks()) >= 2, '2 locks are stored');
    expect(await consumer.listDeadLetters()).toEqual([]);
    expect(await readLocks()).toEqual({ 'ws-0': [1, 2] });
  });

  it('is never a record that failed because the disk of Postgres was full', async () => {
    let failures = 0;
    await send(lockEvents(1, 1, 3));
    const consumer = await start(
      {
        WorkspaceLocked: async (event, client) => {
          if ((failures += 1) < 4) await client.query("do $$ begin raise exception using errcode = '53100'; end $$");
          await insertLocks().WorkspaceLocked?.(event, client);
        },
      },
      { attempts: 1 },
    );
    await waitUntil(async () => (await countLocks()) >= 2, '2 locks are stored');
    expect(await consumer.listDeadLetters()).toEqual([]);
    expect(await readLocks()).toEqual({ 'ws-0': [1, 2] });
  });
});

describe('records of an earlier schema version', () => {
  const changed = (version: number): Message => ({
    ...lockedOf('org-1', version, { ce_type: `cadastre.OrganizationFeatureSetChanged.v${version}` }),
    value: JSON.stringify(
      version === 1 ? { featureSet: 'free' } : { featureSet: 'everything', trailBegins: 'with_change' },
    ),
  });

  it('are upcast before they are handled', async () => {
    const handled: unknown[] = [];
    const handlers: EventHandlers = {
      OrganizationFeatureSetChanged: ({ data, schemaVersion }) => {
        handled.push([schemaVersion, data]);
        return Promise.resolve();
      },
    };
    await send([changed(1), changed(2)]);
    await start({}, { handle: handleEvents({ handlers }) });
    await waitUntil(() => handled.length >= 2, 'both events are handled');
    expect(handled).toEqual([
      [2, { featureSet: 'free', trailBegins: 'with_change' }],
      [2, { featureSet: 'everything', trailBegins: 'with_change' }],
    ]);
  });
});

describe('documents of a state topic', () => {
  it('are a table without the history, and tombstones delete rows', async () => {
    await database.query('create table copies (id text primary key, name text)');
    const documentOf = (id: string, name: string | null): Message => ({
      key: id,
      value: name === null ? null : JSON.stringify({ data: { id, type: 'workspaces', attributes: { name } } }),
      headers: { ce_type: 'cadastre.state.workspaces.v1', ce_organization: 'org-1', ce_position: '7' },
    });
    await send([
      documentOf('ws-1', 'old'),
      documentOf('ws-2', 'two'),
      documentOf('ws-1', 'new'),
      documentOf('ws-2', null),
    ]);
    const handle = handleDocuments(async ({ id, resource }, client) => {
      if (resource === null) await client.query('delete from copies where id = $1', [id]);
      else {
        await client.query('insert into copies values ($1, $2) on conflict (id) do update set name = excluded.name', [
          id,
          (resource as DocumentResource).attributes['name'],
        ]);
      }
    });
    await start({}, { handle });
    await waitUntil(async () => (await countHandled()) >= 4, 'the tombstone and all documents are handled');
    const { rows } = await database.query('select * from copies order by id');
    expect(rows).toEqual([{ id: 'ws-1', name: 'new' }]);
  });
});

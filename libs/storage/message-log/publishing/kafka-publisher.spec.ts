import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import type { EventStore } from '#storage/event-store';
import type { Logger, RecordedEvent } from '#platform/kernel';
import {
  sampleModule,
  sampleEventKinds,
  readTopic,
  createRecordedEvent,
  startKafka,
  type TestKafka,
  type TopicMessage,
  TOPIC_SETTINGS,
} from '../../../../test/support/kafka/index.js';
import { waitForTopics } from '../../../../test/support/kafka/topic-reader.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { toKafkaMessage } from '../topics/cloud-event.js';
import { createKafkaClient } from '../connection/kafka-connection.js';
import { KafkaPublisher } from './kafka-publisher.js';
import { createPublisherFollower } from './publisher.follower.js';
import { listTopics } from '../topics/topics.admin.js';

const SOURCE = 'https://cadastre.example';

let kafka: TestKafka;
const open: KafkaPublisher[] = [];

const logTo = (prefix: string, logger: Logger = quiet): KafkaPublisher => {
  const log = new KafkaPublisher(
    { brokers: kafka.brokers, clientId: 'test' },
    sampleEventKinds,
    { source: SOURCE, prefix, mode: 'binary' },
    logger,
  );
  open.push(log);
  return log;
};

const readyLog = async (prefix: string): Promise<KafkaPublisher> => {
  const log = logTo(prefix);
  await log.ensureTopics(listTopics(sampleEventKinds, prefix), TOPIC_SETTINGS);
  return log;
};

const ids = (messages: readonly TopicMessage[]): Set<string | undefined> =>
  new Set(messages.map(({ headers }) => headers['ce_id']));

/** Returns the stream versions by key that a consumer sees if it drops redeliveries by id. */
const versionsByKey = (messages: readonly TopicMessage[]): Record<string, number[]> => {
  const seenIds = new Set<string | undefined>();
  const versions: Record<string, number[]> = {};
  for (const { key, headers } of messages) {
    if (seenIds.has(headers['ce_id'])) continue;
    seenIds.add(headers['ce_id']);
    (versions[key ?? ''] ??= []).push(Number(headers['ce_version']));
  }
  return versions;
};

const inOrder = (events: readonly RecordedEvent[]): Record<string, number[]> => {
  const versions: Record<string, number[]> = {};
  for (const { stream, version } of events) (versions[stream] ??= []).push(version);
  return versions;
};

/** Publishes like the follower: from the checkpoint, with a new and mostly different batch after each failure. */
const publishAll = async (log: KafkaPublisher, events: readonly RecordedEvent[], onBatch: (done: number) => void) => {
  const failures: unknown[] = [];
  let done = 0;
  while (done < events.length) {
    const batch = events.slice(done, done + 20 + ((done + failures.length * 7) % 41));
    try {
      onBatch(done);
      await log.publish(batch);
      done += batch.length;
    } catch (error) {
      failures.push(error);
      await new Promise((resolve) => setTimeout(resolve, Math.min(100 * failures.length, 1_000)));
    }
  }
  return failures;
};

beforeAll(async () => {
  kafka = await startKafka();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((log) => log.disconnect()));
});

afterAll(async () => {
  await kafka.stop();
});

describe('topics', () => {
  it('are created to keep every event, and left unchanged if they exist', async () => {
    const admin = createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet).admin();
    await admin.connect();
    const retention = [{ name: 'retention.ms', value: '60000' }];
    const lamps = { topic: 'a.lamps', numPartitions: 2, configEntries: retention };
    await admin.createTopics({ waitForLeaders: false, topics: [lamps] });
    await waitForTopics(kafka.brokers, ['a.lamps']);
    const warn = jest.fn<Logger['warn']>();

    await logTo('a', { ...quiet, warn }).ensureTopics(listTopics(sampleEventKinds, 'a'), TOPIC_SETTINGS);

    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: ['a.doors', 'a.lamps'].map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
    });
    const { topics } = await admin.fetchTopicMetadata({ topics: ['a.doors', 'a.lamps'] });
    await admin.disconnect();
    const configs = resources.map(({ resourceName, configEntries }) => ({
      resourceName,
      ...Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    }));
    expect(configs.find(({ resourceName }) => resourceName === 'a.doors')).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'message.timestamp.type': 'CreateTime',
      'min.insync.replicas': '1',
    });
    expect(configs.find(({ resourceName }) => resourceName === 'a.lamps')).toMatchObject({ 'retention.ms': '60000' });
    const partitions = Object.fromEntries(topics.map((topic) => [topic.name, topic.partitions.length]));
    expect(partitions).toEqual({ 'a.doors': 6, 'a.lamps': 2 });
    expect(warn.mock.calls).toEqual([
      [
        {
          topic: 'a.lamps',
          partitions: { actual: '2', target: '6' },
          'retention.ms': { actual: '60000', target: '-1' },
          'max.message.bytes': { actual: '1048588', target: '8388608' },
        },
        'this Kafka topic differs from the settings; see "cadastre topics plan"',
      ],
    ]);
  });

  it('can be ensured by several publishers at once', async () => {
    const topics = listTopics(sampleEventKinds, 'b');
    await Promise.all([1, 2, 3].map(() => logTo('b').ensureTopics(topics, TOPIC_SETTINGS)));
    await expect(logTo('b').publish([createRecordedEvent(1, 'lamp-1', 1)])).resolves.toBeUndefined();
  });
});

describe('publishing', () => {
  it('stores every event once, in order within its stream, with its headers', async () => {
    const log = await readyLog('c');
    const lamps = sampleModule(996, 83);
    const doors = Array.from({ length: 4 }, (_, index) =>
      createRecordedEvent(997 + index, 'door-1', index + 1, { type: 'DoorOpened', data: { by: null } }),
    );
    const events = [...lamps, ...doors];
    await log.publish(events);

    const messages = await readTopic(
      kafka.brokers,
      listTopics(sampleEventKinds, 'c'),
      (all) => all.length >= events.length,
    );

    expect(messages).toHaveLength(events.length);
    expect(ids(messages).size).toBe(events.length);
    expect(versionsByKey(messages)).toEqual(inOrder(events));
    const byId = new Map(messages.map((message) => [message.headers['ce_id'], message]));
    for (const event of events) {
      const kind = sampleEventKinds[event.type];
      expect(byId.get(event.id)).toMatchObject(
        kind ? toKafkaMessage(event, kind, { source: SOURCE, prefix: 'c', mode: 'binary' }) : {},
      );
    }
  });

  it("splits a batch of one stream that exceeds the broker's limit", async () => {
    const log = await readyLog('d');
    const filler = 'x'.repeat(4_000);
    const events = Array.from({ length: 600 }, (_, index) =>
      createRecordedEvent(index + 1, 'lamp-1', index + 1, { type: 'LampBroken', data: { room: filler } }),
    );
    await log.publish(events);
    const messages = await readTopic(kafka.brokers, ['d.lamps'], (all) => all.length >= events.length);
    expect(versionsByKey(messages)).toEqual(inOrder(events));
  });

  it('refuses concurrent calls and unknown event types, and continues afterwards', async () => {
    const log = await readyLog('e');
    const first = log.publish([createRecordedEvent(1, 'lamp-1', 1)]);
    await expect(log.publish([createRecordedEvent(2, 'lamp-1', 2)])).rejects.toThrow('order would be lost');
    await first;
    const unknown = { ...createRecordedEvent(2, 'lamp-1', 2), type: 'RoofLeaked' };
    await expect(log.publish([unknown])).rejects.toThrow('unknown event type RoofLeaked');
    await log.publish([createRecordedEvent(2, 'lamp-1', 2)]);
    await log.disconnect();
    await expect(log.publish([createRecordedEvent(3, 'lamp-1', 3)])).rejects.toThrow('was closed');
  });

  it('fails if the topic is missing, without creating it, and succeeds after the topic was created', async () => {
    const log = logTo('f');
    const events = sampleModule(3, 1);
    await expect(log.publish(events)).rejects.toThrow('Kafka did not accept the events');
    await log.ensureTopics(listTopics(sampleEventKinds, 'f'), TOPIC_SETTINGS);
    await log.publish(events);
    const messages = await readTopic(kafka.brokers, ['f.lamps'], (all) => all.length >= 3);
    expect(versionsByKey(messages)).toEqual({ 'lamp-0': [1, 2, 3] });
  });
});

describe('the follower', () => {
  it('creates a deleted topic again, and continues with the events from there on', async () => {
    const topics = listTopics(sampleEventKinds, 'i');
    const follower = createPublisherFollower(logTo('i'), topics, TOPIC_SETTINGS);
    const session = { run: () => Promise.resolve([]) };
    const publish = (position: number) =>
      follower.follow([createRecordedEvent(position, 'lamp-1', position)], session, {} as EventStore);
    await publish(1);
    const admin = createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: ['i.lamps'] });
    await admin.disconnect();
    await expect(publish(2)).rejects.toThrow('Kafka did not accept the events');
    await publish(2);
    await publish(3);
    const messages = await readTopic(kafka.brokers, ['i.lamps'], (all) => all.length >= 2);
    expect(versionsByKey(messages)).toEqual({ 'lamp-1': [2, 3] });
  });
});

describe('an idle connection', () => {
  it('sets few timers, and none with a negative delay', async () => {
    const log = await readyLog('g');
    const set = jest.spyOn(globalThis, 'setTimeout');
    try {
      await log.publish(sampleModule(50, 5));
      const before = set.mock.calls.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      // The released kafkajs sets one each millisecond: see request-queue.patch.ts.
      expect(set.mock.calls.length - before).toBeLessThan(10);
      expect(set.mock.calls.filter(([, delay]) => delay !== undefined && delay < 0)).toEqual([]);
    } finally {
      set.mockRestore();
    }
  });
});

describe('a broker that is killed', () => {
  it('loses no event and keeps the order, and the same publisher continues', async () => {
    const log = await readyLog('h');
    const events = sampleModule(4_000, 37);
    const deaths: Promise<void>[] = [];
    const killAt = [900, 2_500];

    const failures = await publishAll(log, events, (done) => {
      if (done < (killAt[0] ?? Infinity)) return;
      killAt.shift();
      // Not awaited: the broker is killed while batches are being sent.
      deaths.push(kafka.kill().then(() => kafka.restart()));
    });
    await Promise.all(deaths);

    expect(deaths).toHaveLength(2);
    expect(failures.length).toBeGreaterThan(0);
    const messages = await readTopic(kafka.brokers, ['h.lamps'], (all) => ids(all).size >= events.length);
    expect(ids(messages)).toEqual(new Set(events.map(({ id }) => id)));
    expect(versionsByKey(messages)).toEqual(inOrder(events));
  }, 180_000);

  it('causes one error for the caller, and no warnings of kafkajs', async () => {
    const warn = jest.fn<Logger['warn']>();
    const log = logTo('h', { ...quiet, warn });
    await log.publish(sampleModule(1, 1));
    await kafka.kill();
    await expect(log.publish(sampleModule(1, 1))).rejects.toThrow('Kafka did not accept the events');
    await expect(logTo('h', { ...quiet, warn }).publish(sampleModule(1, 1))).rejects.toThrow('ECONNREFUSED');
    const [unfinished] = await Promise.allSettled([log.publish(sampleModule(1, 1)), log.disconnect()]);
    expect(unfinished.status).toBe('rejected');
    expect(warn).not.toHaveBeenCalled();
    await kafka.restart();
    await logTo('h').publish(sampleModule(1, 1));
  }, 180_000);
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import type { Metric } from 'prom-client';
import type { Logger } from '#platform/kernel';
import {
  readTopic,
  sendToTopic,
  startKafka,
  type TestKafka,
  TOPIC_SETTINGS,
} from '../../../../test/support/kafka/index.js';
import { waitForTopics } from '../../../../test/support/kafka/topic-reader.js';
import { waitUntil } from '../../../../test/support/product.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import {
  splitIntoChunks,
  TopicConsumer,
  type ConsumedMessage,
  type MessageHandler,
  type MessageResult,
} from './topic-consumer.js';
import { createKafkaClient } from '../connection/kafka-connection.js';
import { consumerMetrics } from '../message-log.metrics.js';
import { ensureTopics } from '../topics/topics.admin.js';

let kafka: TestKafka;
let number = 0;
const open: TopicConsumer[] = [];

beforeAll(async () => {
  kafka = await startKafka();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((consumer) => consumer.stop()));
});

afterAll(() => kafka.stop());

const newTopic = async (): Promise<string> => {
  const topic = `site-${(number += 1)}.letters`;
  await ensureTopics(
    createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet),
    [{ name: topic, use: 'inbound' }],
    TOPIC_SETTINGS,
    quiet,
  );
  return topic;
};

const createTopic = async (topic: string, config: Readonly<Record<string, string>>): Promise<void> => {
  const admin = createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet).admin();
  await admin.connect();
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 6, configEntries }] });
  await admin.disconnect();
  await waitForTopics(kafka.brokers, [topic]);
};

const startConsumer = (topic: string, take: MessageHandler, logger: Logger = quiet): TopicConsumer => {
  const consumer = new TopicConsumer(
    { brokers: kafka.brokers, clientId: 'test' },
    { name: topic, settings: TOPIC_SETTINGS },
    take,
    logger,
  );
  open.push(consumer);
  consumer.start();
  return consumer;
};

const letters = (from: number, to: number, streams = 7): Message[] =>
  Array.from({ length: to - from }, (_, n) => ({ key: `s${(from + n) % streams}`, value: String(from + n) }));

/** Returns the sum of the samples of a metric that have this topic. */
const sumOf = async (metric: Pick<Metric, 'get'>, topic: string): Promise<number> =>
  (await metric.get()).values
    .filter(({ labels }) => labels['topic'] === topic)
    .reduce((sum, { value }) => sum + value, 0);

const textOf = ({ value }: ConsumedMessage): string => value?.toString() ?? '';
const recorded: MessageResult = { result: 'recorded' };

/** Accepts every message, and resolves `full` after the given number of different ones. */
const collector = (enough: number) => {
  const received: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const collect = (messages: readonly ConsumedMessage[]): MessageResult[] => {
    received.push(...messages.map(textOf));
    if (new Set(received).size >= enough) resolve();
    return messages.map(() => recorded);
  };
  return { taken: received, collect, full: promise };
};

const distinctByOffset = (rejected: Awaited<ReturnType<typeof readTopic>>) =>
  new Map(rejected.map((message) => [Number(message.headers['rejected_offset']), message]));

/**
 * Reads rejected messages in the order of their offsets. A message that was sent again after a failure is in the topic
 * twice.
 */
const readRejected = async (topic: string, count: number) => {
  const isComplete = (all: Parameters<typeof distinctByOffset>[0]) => distinctByOffset(all).size >= count;
  const rejected = await readTopic(kafka.brokers, [`${topic}.rejected`], isComplete);
  return [...distinctByOffset(rejected)].toSorted(([one], [another]) => one - another).map(([, message]) => message);
};

describe('a topic consumer', () => {
  it('passes on existing and new messages, in the order of each key', async () => {
    const topic = await newTopic();
    await sendToTopic(kafka.brokers, topic, letters(0, 1_500));
    const { taken: received, collect, full } = collector(3_000);
    startConsumer(topic, (messages) => Promise.resolve(collect(messages)));
    await sendToTopic(kafka.brokers, topic, letters(1_500, 3_000));
    await full;
    for (let stream = 0; stream < 7; stream += 1) {
      const its = [...new Set(received)].map(Number).filter((n) => n % 7 === stream);
      expect(its).toEqual(its.toSorted((a, b) => a - b));
    }
  });

  it('continues at its last offset after a restart', async () => {
    const topic = await newTopic();
    const first = collector(100);
    await sendToTopic(kafka.brokers, topic, letters(0, 100));
    const consumer = startConsumer(topic, (messages) => Promise.resolve(first.collect(messages)));
    await first.full;
    await consumer.stop();
    await sendToTopic(kafka.brokers, topic, letters(100, 200));
    const second = collector(100);
    startConsumer(topic, (messages) => Promise.resolve(second.collect(messages)));
    await second.full;
    expect([...new Set(second.taken)].map(Number).toSorted((a, b) => a - b)).toEqual(
      letters(100, 200).map(({ value }) => Number(value)),
    );
  });

  it('retries messages that could not be recorded, skips none, and logs the failure and the recovery', async () => {
    const topic = await newTopic();
    await sendToTopic(kafka.brokers, topic, letters(0, 300));
    const { taken: received, collect, full } = collector(300);
    const lines: { readonly text: string }[] = [];
    const record = (fields: object, text: string): void => void lines.push({ text, ...fields });
    let failures = 0;
    startConsumer(
      topic,
      (messages) => {
        if ((failures += 1) <= 3) return Promise.reject(new Error('the database is away'));
        return Promise.resolve(collect(messages));
      },
      { ...quiet, info: record, warn: record },
    );
    await full;
    expect(new Set(received).size).toBe(300);
    expect(lines.filter(({ text }) => text.startsWith('topic consumer'))).toMatchObject([
      { text: 'topic consumer failed, will retry', topic, retryInMs: 100, err: { message: 'the database is away' } },
      { text: 'topic consumer recovered', topic, failures: 3 },
    ]);
  });

  it('sends a rejected message unchanged to the topic of rejected messages, with the reason and its location', async () => {
    const topic = await newTopic();
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    await sendToTopic(kafka.brokers, topic, [
      { key: 'k', value: 'good', partition: 2 },
      { key: 'k', value: bytes, partition: 2, headers: { ce_id: 'e-1' } },
      { key: null, value: null, partition: 2 },
      { key: 'k', value: 'good as well', partition: 2 },
    ]);
    const { taken: received, collect, full } = collector(3);
    startConsumer(topic, (messages) => {
      const verdicts = collect(messages);
      return Promise.resolve(
        messages.map((message, n) =>
          textOf(message).startsWith('good') ? (verdicts[n] ?? recorded) : { rejected: 'Küche' },
        ),
      );
    });
    await full;
    const inOrder = await readRejected(topic, 2);
    const location = { rejected_reason: 'Küche', rejected_topic: topic, rejected_partition: '2' };
    expect(inOrder.map(({ key, value, headers }) => ({ key, value, headers }))).toEqual([
      { key: 'k', value: bytes.toString(), headers: { ...location, rejected_offset: '1', ce_id: 'e-1' } },
      { key: null, value: null, headers: { ...location, rejected_offset: '2' } },
    ]);
    expect([...new Set(received)].filter((text) => text.startsWith('good'))).toHaveLength(2);
  });

  it('sends a reduced message if the topic of rejected messages does not accept the complete one', async () => {
    const topic = `site-${(number += 1)}.letters`;
    const limits = { 'max.message.bytes': '20000', 'message.timestamp.type': 'CreateTime' };
    await createTopic(topic, { 'message.timestamp.after.max.ms': '9223372036854775807' });
    await createTopic(`${topic}.rejected`, limits);
    const large = 'x'.repeat(50_000);
    const sent: Message[] = [
      { key: 'k', value: 'v', headers: { ce_id: 'e-1' }, timestamp: '8640000000000001' },
      { key: 'k', value: large, headers: { ce_id: 'e-2' } },
      { key: 'k', value: 'v', headers: { ce_id: 'e-3', large } },
      { key: large, value: 'v', headers: { ce_id: 'e-4' } },
      { key: null, value: 'v', headers: Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`h${n}`, ''])) },
      { key: 'k', value: 'last', headers: { ce_id: 'e-6' } },
    ];
    await sendToTopic(
      kafka.brokers,
      topic,
      sent.map((message) => ({ ...message, partition: 2 })),
    );
    const whys = ['too late', 'x'.repeat(5_000)];
    startConsumer(topic, (messages) => Promise.resolve(messages.map((_, n) => ({ rejected: whys[n % 2] ?? '' }))));
    const inOrder = await readRejected(topic, sent.length);
    expect(
      inOrder.map(({ key, value, headers }) => [headers['rejected_offset'], key, value, headers['ce_id']]),
    ).toEqual([
      ['0', 'k', 'v', 'e-1'],
      ['1', 'k', null, 'e-2'],
      ['2', null, null, undefined],
      ['3', null, null, undefined],
      ['4', null, null, undefined],
      ['5', 'k', 'last', 'e-6'],
    ]);
    expect(new Set(inOrder.map(({ headers }) => headers['rejected_topic']))).toEqual(new Set([topic]));
  });

  it('pauses longer after each failure and reports its lag while it cannot read a message', async () => {
    const topic = `site-${(number += 1)}.letters`;
    // The broker compresses the messages. kafkajs cannot decompress them.
    await createTopic(topic, { 'compression.type': 'zstd' });
    await sendToTopic(kafka.brokers, topic, letters(0, 10));
    const lines: string[] = [];
    const record = (_fields: object, text: string): void => void lines.push(text);
    startConsumer(topic, () => Promise.resolve([]), { ...quiet, info: record, warn: record });
    await waitUntil(async () => (await sumOf(consumerMetrics.failures, topic)) >= 4, 'the consumer has failed');
    // A recovery would make the next pause short again.
    expect(lines.filter((text) => text.startsWith('topic consumer'))).toEqual(['topic consumer failed, will retry']);
    expect(await sumOf(consumerMetrics.lag, topic)).toBe(10);
  });

  it('shares the topic with other consumers, and takes over the partitions of one that stops', async () => {
    const topic = await newTopic();
    const { taken: received, collect, full } = collector(2_000);
    const take: MessageHandler = (messages) => Promise.resolve(collect(messages));
    const leaving = startConsumer(topic, take);
    startConsumer(topic, take);
    await sendToTopic(kafka.brokers, topic, letters(0, 1_000));
    await leaving.stop();
    await sendToTopic(kafka.brokers, topic, letters(1_000, 2_000));
    await full;
    expect(new Set(received).size).toBe(2_000);
  });

  it('stops at once while its messages cannot be recorded', async () => {
    const topic = await newTopic();
    await sendToTopic(kafka.brokers, topic, letters(0, 10));
    const { promise: called, resolve } = Promise.withResolvers<void>();
    const consumer = startConsumer(topic, () => {
      resolve();
      return Promise.reject(new Error('the database is away'));
    });
    await called;
    await consumer.stop();
    const { taken: received, collect, full } = collector(10);
    startConsumer(topic, (messages) => Promise.resolve(collect(messages)));
    await full;
    expect(new Set(received).size).toBe(10);
  });

  it('continues after a restart of the broker', async () => {
    const topic = await newTopic();
    const { taken: received, collect, full } = collector(200);
    const first = collector(100);
    startConsumer(topic, (messages) => {
      first.collect(messages);
      return Promise.resolve(collect(messages));
    });
    await sendToTopic(kafka.brokers, topic, letters(0, 100));
    await first.full;
    await kafka.kill();
    await kafka.restart();
    await sendToTopic(kafka.brokers, topic, letters(100, 200));
    await full;
    expect(new Set(received).size).toBe(200);
  }, 180_000);
});

describe('splitIntoChunks', () => {
  const sizes = (chunks: readonly (readonly unknown[])[]) => chunks.map(({ length }) => length);
  const of = (count: number, bytes: number) => Array.from({ length: count }, () => ({ value: Buffer.alloc(bytes) }));

  it('keeps all messages in order, with at most a thousand in each chunk', () => {
    const all = of(2_500, 10);
    expect(sizes(splitIntoChunks(all))).toEqual([1_000, 1_000, 500]);
    expect(splitIntoChunks(all).flat()).toEqual(all);
  });

  it('limits a chunk to four megabytes, or to one larger message', () => {
    expect(sizes(splitIntoChunks(of(9, 1_048_576)))).toEqual([4, 4, 1]);
    expect(sizes(splitIntoChunks(of(3, 5_000_000)))).toEqual([1, 1, 1]);
    expect(sizes(splitIntoChunks([{ value: null }, { value: null }]))).toEqual([2]);
    expect(splitIntoChunks([])).toEqual([]);
  });
});

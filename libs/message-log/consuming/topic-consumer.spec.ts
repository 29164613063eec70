import { zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs, { type Message } from 'kafkajs';
import type { Logger } from '#kernel';
import { readTopic, sendToTopic, startKafka, type TestKafka } from '../../../test/support/kafka/index.js';
import { waitForTopics } from '../../../test/support/kafka/topic-reader.js';
import { quiet } from '../../../test/support/silent-logger.js';
import {
  splitIntoChunks,
  TopicConsumer,
  type ConsumedMessage,
  type MessageHandler,
  type MessageResult,
} from './topic-consumer.js';
import { createKafkaClient } from '../connection/kafka-connection.js';
import { ensureTopics } from '../connection/topics.js';

let kafka: TestKafka;
let number = 0;
const open: TopicConsumer[] = [];

beforeAll(async () => {
  kafka = await startKafka();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((inbox) => inbox.stop()));
});

afterAll(() => kafka.stop());

const newTopic = async (): Promise<string> => {
  const topic = `site-${(number += 1)}.letters`;
  await ensureTopics(createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet), [topic], quiet, 'inbox');
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

const openInbox = (topic: string, take: MessageHandler, logger: Logger = quiet): TopicConsumer => {
  const inbox = new TopicConsumer({ brokers: kafka.brokers, clientId: 'test' }, topic, take, logger);
  open.push(inbox);
  inbox.start();
  return inbox;
};

const letters = (from: number, to: number, streams = 7): Message[] =>
  Array.from({ length: to - from }, (_, n) => ({ key: `s${(from + n) % streams}`, value: String(from + n) }));

const textOf = ({ value }: ConsumedMessage): string => value?.toString() ?? '';
const recorded: MessageResult = { result: 'recorded' };

/** Takes everything, and says when it has so many different ones. */
const collector = (enough: number) => {
  const taken: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const collect = (messages: readonly ConsumedMessage[]): MessageResult[] => {
    taken.push(...messages.map(textOf));
    if (new Set(taken).size >= enough) resolve();
    return messages.map(() => recorded);
  };
  return { taken, collect, full: promise };
};

const distinctByOffset = (rejected: Awaited<ReturnType<typeof readTopic>>) =>
  new Map(rejected.map((message) => [Number(message.headers['rejected_offset']), message]));

/** Reads rejected messages in the order of their offsets. One that was sent again after a failure is in the topic twice. */
const readRejected = async (topic: string, count: number) => {
  const isComplete = (all: Parameters<typeof distinctByOffset>[0]) => distinctByOffset(all).size >= count;
  const rejected = await readTopic(kafka.brokers, [`${topic}.rejected`], isComplete);
  return [...distinctByOffset(rejected)].toSorted(([one], [other]) => one - other).map(([, message]) => message);
};

describe('an inbox', () => {
  it('hands over what was there before it, and what comes later, in the order of each key', async () => {
    const topic = await newTopic();
    await sendToTopic(kafka.brokers, topic, letters(0, 1_500));
    const { taken, collect, full } = collector(3_000);
    openInbox(topic, (messages) => Promise.resolve(collect(messages)));
    await sendToTopic(kafka.brokers, topic, letters(1_500, 3_000));
    await full;
    for (let stream = 0; stream < 7; stream += 1) {
      const its = [...new Set(taken)].map(Number).filter((n) => n % 7 === stream);
      expect(its).toEqual(its.toSorted((a, b) => a - b));
    }
  });

  it('goes on where it was when it stopped', async () => {
    const topic = await newTopic();
    const first = collector(100);
    await sendToTopic(kafka.brokers, topic, letters(0, 100));
    const inbox = openInbox(topic, (messages) => Promise.resolve(first.collect(messages)));
    await first.full;
    await inbox.stop();
    await sendToTopic(kafka.brokers, topic, letters(100, 200));
    const second = collector(100);
    openInbox(topic, (messages) => Promise.resolve(second.collect(messages)));
    await second.full;
    expect([...new Set(second.taken)].map(Number).toSorted((a, b) => a - b)).toEqual(
      letters(100, 200).map(({ value }) => Number(value)),
    );
  });

  it('retries messages that could not be recorded, skips none, and logs the failure and the recovery', async () => {
    const topic = await newTopic();
    await sendToTopic(kafka.brokers, topic, letters(0, 300));
    const { taken, collect, full } = collector(300);
    const lines: { readonly text: string }[] = [];
    const keep = (fields: object, text: string): void => void lines.push({ text, ...fields });
    let failures = 0;
    openInbox(
      topic,
      (messages) => {
        if ((failures += 1) <= 3) return Promise.reject(new Error('the database is away'));
        return Promise.resolve(collect(messages));
      },
      { ...quiet, info: keep, warn: keep },
    );
    await full;
    expect(new Set(taken).size).toBe(300);
    expect(lines.filter(({ text }) => text.startsWith('topic consumer'))).toMatchObject([
      { text: 'topic consumer failed, will retry', topic, retryInMs: 100, err: { message: 'the database is away' } },
      { text: 'topic consumer recovered', topic, failures: 3 },
    ]);
  });

  it('puts aside what is rejected, as it came, with the reason and where it stood', async () => {
    const topic = await newTopic();
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    await sendToTopic(kafka.brokers, topic, [
      { key: 'k', value: 'good', partition: 2 },
      { key: 'k', value: bytes, partition: 2, headers: { ce_id: 'e-1' } },
      { key: null, value: null, partition: 2 },
      { key: 'k', value: 'good as well', partition: 2 },
    ]);
    const { taken, collect, full } = collector(3);
    openInbox(topic, (messages) => {
      const verdicts = collect(messages);
      return Promise.resolve(
        messages.map((message, n) =>
          textOf(message).startsWith('good') ? (verdicts[n] ?? recorded) : { rejected: 'Küche' },
        ),
      );
    });
    await full;
    const inOrder = await readRejected(topic, 2);
    const place = { rejected_reason: 'Küche', rejected_topic: topic, rejected_partition: '2' };
    expect(inOrder.map(({ key, value, headers }) => ({ key, value, headers }))).toEqual([
      { key: 'k', value: bytes.toString(), headers: { ...place, rejected_offset: '1', ce_id: 'e-1' } },
      { key: null, value: null, headers: { ...place, rejected_offset: '2' } },
    ]);
    expect([...new Set(taken)].filter((text) => text.startsWith('good'))).toHaveLength(2);
  });

  it('puts aside what the other topic takes of it: by its own limits, and not by those of this one', async () => {
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
    openInbox(topic, (messages) => Promise.resolve(messages.map((_, n) => ({ rejected: whys[n % 2] ?? '' }))));
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

  it('reads what was packed in a way that it cannot unpack', async () => {
    const topic = await newTopic();
    const codecs: Record<number, () => object> = kafkajs.CompressionCodecs;
    const unknown = codecs[kafkajs.CompressionTypes.ZSTD] as () => object;
    const compress = ({ buffer }: { readonly buffer: Buffer }) => Promise.resolve(zstdCompressSync(buffer));
    codecs[kafkajs.CompressionTypes.ZSTD] = () => ({ compress });
    const producer = createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet).producer();
    await producer.connect();
    await producer.send({ topic, messages: letters(0, 100), compression: kafkajs.CompressionTypes.ZSTD });
    await producer.disconnect();
    codecs[kafkajs.CompressionTypes.ZSTD] = unknown;
    const { taken, collect, full } = collector(100);
    openInbox(topic, (messages) => Promise.resolve(collect(messages)));
    await full;
    expect(new Set(taken).size).toBe(100);
  });

  it('shares the topic with others, and takes over what one leaves', async () => {
    const topic = await newTopic();
    const { taken, collect, full } = collector(2_000);
    const take: MessageHandler = (messages) => Promise.resolve(collect(messages));
    const leaving = openInbox(topic, take);
    openInbox(topic, take);
    await sendToTopic(kafka.brokers, topic, letters(0, 1_000));
    await leaving.stop();
    await sendToTopic(kafka.brokers, topic, letters(1_000, 2_000));
    await full;
    expect(new Set(taken).size).toBe(2_000);
  });

  it('stops at once while what it has cannot be taken', async () => {
    const topic = await newTopic();
    await sendToTopic(kafka.brokers, topic, letters(0, 10));
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const inbox = openInbox(topic, () => {
      resolve();
      return Promise.reject(new Error('the database is away'));
    });
    await asked;
    await inbox.stop();
    const { taken, collect, full } = collector(10);
    openInbox(topic, (messages) => Promise.resolve(collect(messages)));
    await full;
    expect(new Set(taken).size).toBe(10);
  });

  it('outlives the broker', async () => {
    const topic = await newTopic();
    const { taken, collect, full } = collector(200);
    const first = collector(100);
    openInbox(topic, (messages) => {
      first.collect(messages);
      return Promise.resolve(collect(messages));
    });
    await sendToTopic(kafka.brokers, topic, letters(0, 100));
    await first.full;
    await kafka.kill();
    await kafka.restart();
    await sendToTopic(kafka.brokers, topic, letters(100, 200));
    await full;
    expect(new Set(taken).size).toBe(200);
  }, 180_000);
});

describe('chunks', () => {
  const sizes = (chunks: readonly (readonly unknown[])[]) => chunks.map(({ length }) => length);
  const of = (count: number, bytes: number) => Array.from({ length: count }, () => ({ value: Buffer.alloc(bytes) }));

  it('hold everything in its order, a thousand at most', () => {
    const all = of(2_500, 10);
    expect(sizes(splitIntoChunks(all))).toEqual([1_000, 1_000, 500]);
    expect(splitIntoChunks(all).flat()).toEqual(all);
  });

  it('hold four megabytes at most, or one message', () => {
    expect(sizes(splitIntoChunks(of(9, 1_048_576)))).toEqual([4, 4, 1]);
    expect(sizes(splitIntoChunks(of(3, 5_000_000)))).toEqual([1, 1, 1]);
    expect(sizes(splitIntoChunks([{ value: null }, { value: null }]))).toEqual([2]);
    expect(splitIntoChunks([])).toEqual([]);
  });
});

import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs, { type Kafka } from 'kafkajs';
import { sendToTopic, startKafka, type TestKafka } from '../../../../test/support/kafka/index.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { createKafkaClient } from '../connection/kafka-connection.js';
import { TopicTail } from './topic-tail.js';

let kafka: TestKafka;
let client: Kafka;

beforeAll(async () => {
  kafka = await startKafka();
  client = createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet);
});
afterAll(() => kafka?.stop());

const createTopic = async (topic: string, numPartitions: number): Promise<void> => {
  const admin = client.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1 }], waitForLeaders: true });
  await admin.disconnect();
};

/** Sends a message that no consumer receives, at the end of the first partition. */
const sendAborted = async (topic: string): Promise<void> => {
  const producer = client.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    transactionalId: topic,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ partition: 0, value: 'aborted' }] });
  await transaction.abort();
  await producer.disconnect();
};

const readTail = async (topic: string, atLeast: number): Promise<readonly string[]> => {
  const values: string[] = [];
  await new TopicTail({ brokers: kafka.brokers, clientId: 'test-tail' }, topic, quiet).read({
    since: new Date('2100-01-01T00:00:00.000Z'),
    atLeast,
    handle: async (messages) => void values.push(...messages.map(({ value }) => value?.toString() ?? '')),
    signal: AbortSignal.timeout(60_000),
  });
  return values.toSorted();
};

describe('the tail of a topic', () => {
  it('ends although its last offsets are those of aborted messages', async () => {
    await createTopic('aborted', 1);
    await sendToTopic(kafka.brokers, 'aborted', [{ value: 'a' }]);
    await sendAborted('aborted');
    expect(await readTail('aborted', 100)).toEqual(['a']);
    // The range of these two offsets contains no message that a consumer receives.
    expect(await readTail('aborted', 2)).toEqual([]);
  });

  it('contains the last messages of each partition, also beside an empty one', async () => {
    await createTopic('uneven', 3);
    const messages = ['a', 'b', 'c'].map((value) => ({ partition: 0, value }));
    await sendToTopic(kafka.brokers, 'uneven', [...messages, { partition: 2, value: 'z' }]);
    expect(await readTail('uneven', 2)).toEqual(['b', 'c', 'z']);
  });
});

describe('brokers that accept connections and never respond', () => {
  it('do not delay the reader after its signal has aborted', async () => {
    const sockets: Socket[] = [];
    const stopping = new AbortController();
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      stopping.abort(new Error('too late'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const brokers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
    const handle = () => Promise.resolve();
    const tail = new TopicTail({ brokers, clientId: 'test-tail' }, 'silent', quiet);
    const read = tail.read({ since: null, atLeast: 1, handle, signal: stopping.signal });
    await expect(read).rejects.toThrow('too late');
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

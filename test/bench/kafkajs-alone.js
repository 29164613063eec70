// The bound of the publisher: kafkajs as it was released, without the patches of the product, with the same messages.
// Arguments: the database URL, brokers, the prefix of the topics. Prints the number of messages and the milliseconds.
import kafkajs from 'kafkajs';
import { listTopics } from '#message-log';
import { eventRegistry, readMessages } from './store.js';

const BATCH = 500;

const PARTITIONS = 6;

const createTopics = async (kafka, topics) => {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: PARTITIONS })) });
  await admin.disconnect();
};

const sendAll = async (messages, brokers, { prefix }) => {
  const { ERROR } = kafkajs.logLevel;
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), clientId: 'bench-bound', logLevel: ERROR });
  await createTopics(kafka, listTopics(eventRegistry, prefix));
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  const send = (all) =>
    producer.sendBatch({
      acks: -1,
      topicMessages: [...Map.groupBy(all, ({ topic }) => topic)].map(([topic, same]) => ({ topic, messages: same })),
    });
  await send(messages.slice(0, 1));
  const started = performance.now();
  for (let n = 0; n < messages.length; n += BATCH) await send(messages.slice(n, n + BATCH));
  const ms = performance.now() - started;
  await producer.disconnect();
  return { sent: messages.length, ms };
};

if (import.meta.main) {
  const [databaseUrl, brokers, prefix] = process.argv.slice(2);
  const origin = { source: 'http://bench', prefix };
  const sent = await sendAll(await readMessages(databaseUrl, origin), brokers, origin);
  process.stdout.write(`${JSON.stringify(sent)}\n`);
}

// The bound of the publisher: kafkajs as it was released, without the patches of the product, with the same messages.
// Arguments: the database URL, brokers, the prefix of the topics. Prints the number of messages and the milliseconds. With
// a fourth argument, it first sends some messages, and this number of messages after a line from its standard input.
import { once } from 'node:events';
import kafkajs from 'kafkajs';
import { listTopics } from '#storage/message-log';
import { eventRegistry, readMessages } from './store.js';

const BATCH = 500;

const PARTITIONS = 6;

const createTopics = async (kafka, topics) => {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: PARTITIONS })) });
  await admin.disconnect();
};

/** Returns how many messages were sent in how many milliseconds. */
const sendAll = async (kafka, messages) => {
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

/** Node compiles the code of kafkajs with these messages. */
const WARM_UP = 20_000;

if (import.meta.main) {
  const [databaseUrl, brokers, prefix, countAfterLine] = process.argv.slice(2);
  const { ERROR } = kafkajs.logLevel;
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), clientId: 'bench-bound', logLevel: ERROR });
  let messages = await readMessages(databaseUrl, { source: 'http://bench', prefix });
  await createTopics(kafka, listTopics(eventRegistry, prefix));
  if (countAfterLine !== undefined) {
    await sendAll(kafka, messages.slice(0, WARM_UP));
    messages = messages.slice(-Number(countAfterLine));
    process.stdout.write('ready\n');
    await once(process.stdin, 'data');
    process.stdin.unref();
  }
  process.stdout.write(`${JSON.stringify(await sendAll(kafka, messages))}\n`);
}

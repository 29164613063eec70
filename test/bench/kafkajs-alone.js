// The bound of the publisher: kafkajs alone with the same messages that the product sends. Arguments: the database URL,
// brokers, the prefix of the topics. Prints the number of messages and the milliseconds.
import { createKafkaClient, KafkaPublisher, listTopics } from '#message-log';
import { eventRegistry, readMessages } from './store.js';

const BATCH = 500;

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };

const sendAll = async (messages, brokers, origin) => {
  const connection = { brokers: brokers.split(','), clientId: 'bench-bound' };
  const topics = listTopics(eventRegistry, origin.prefix);
  await new KafkaPublisher(connection, eventRegistry, origin, quiet).ensureTopics(topics, {
    partitions: 6,
    replicas: null,
    retentionDays: null,
  });
  const producer = createKafkaClient(connection, quiet).producer({ idempotent: true, maxInFlightRequests: 1 });
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

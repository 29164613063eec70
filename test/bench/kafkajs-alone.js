// The bound of the publisher: kafkajs alone with the same messages that the product sends. Arguments: a built copy of
// the project, the database URL, brokers. Prints the number of messages and the milliseconds.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [build, databaseUrl, brokers, PREFIX] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(build, 'dist', path)).href);
const BATCH = 500;

const { Database, EventStore } = await load('libs/event-store/index.js');
const { registry } = await load('apps/slices.js');
const { toMessage } = await load('libs/message-log/cloud-event.js');
const { kafkaClient } = await load('libs/message-log/kafka-connection.js');
const { ensureTopics, topicsOf } = await load('libs/message-log/topics.js');

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const database = new Database({ url: databaseUrl, connections: 1, applicationName: 'bench' });
const store = new EventStore(database, registry, [], null, null, Buffer.alloc(32));
const messages = [];
for (let after = { transaction: '0', position: 0 }; ;) {
  const events = await store.read(after, 1_000, (statement) => database.rows(statement), { sealed: true });
  if (events.length === 0) break;
  after = events.at(-1);
  const origin = { source: 'http://bench', prefix: PREFIX };
  for (const event of events) messages.push(toMessage(event, registry[event.type], origin));
}
await database.close();

const kafka = kafkaClient({ brokers: brokers.split(','), clientId: 'bench-bound' }, quiet);
await ensureTopics(kafka, topicsOf(registry, PREFIX), quiet);
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
process.stdout.write(`${JSON.stringify({ sent: messages.length, ms: performance.now() - started })}\n`);
await producer.disconnect();

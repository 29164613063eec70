/* A service that copies all events and all documents of workspaces into a database of its own. Its test kills it. */
import kafkajs from 'kafkajs';
import pg from 'pg';
import { EVENT_VERSIONS, handleDocuments, handleEvents, TransactionalConsumer } from '#packages/consumer';

const { KAFKA_BROKERS = '', DATABASE_URL = '', EVENT_TOPICS = '', STATE_TOPIC = '' } = process.env;

const database = new pg.Pool({ connectionString: DATABASE_URL });
// The next statement opens another connection.
database.on('error', () => undefined);

await database.query(`
  create table if not exists events (n bigserial, id text not null, stream text not null, version int not null);
  create table if not exists documents (id text primary key, document jsonb not null)`);

const insertEvent = async (
  { id, stream, version }: { readonly id: string; readonly stream: string; readonly version: number },
  client: pg.ClientBase,
): Promise<void> => {
  await client.query('insert into events (id, stream, version) values ($1, $2, $3)', [id, stream, version]);
};

const kafka = new kafkajs.Kafka({
  clientId: 'copying-consumer',
  brokers: KAFKA_BROKERS.split(','),
  logLevel: kafkajs.logLevel.NOTHING,
});
const consumers = [
  new TransactionalConsumer({
    kafka,
    database,
    name: 'events',
    topics: EVENT_TOPICS.split(','),
    handle: handleEvents({
      handlers: Object.fromEntries(Object.keys(EVENT_VERSIONS).map((type) => [type, insertEvent])),
    }),
  }),
  new TransactionalConsumer({
    kafka,
    database,
    name: 'documents',
    topics: [STATE_TOPIC],
    handle: handleDocuments(async ({ id, resource }, client) => {
      await client.query('delete from documents where id = $1', [id]);
      if (resource !== null)
        await client.query('insert into documents (id, document) values ($1, $2)', [id, { data: resource }]);
    }),
  }),
];
await Promise.all(consumers.map((consumer) => consumer.start()));

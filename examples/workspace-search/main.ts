/*
 * A searchable copy of all workspaces in a database of its own: it reads the state topic, so it needs no history and no access
 * to Cadastre. Try it with: curl 'localhost:8080/workspaces?q=network'
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { handleDocuments, TransactionalConsumer, type DocumentResource } from '@cadastre/consumer';
import kafkajs from 'kafkajs';
import pg from 'pg';

const { KAFKA_BROKERS = 'localhost:9092', DATABASE_URL = '', TOPIC_PREFIX = 'cadastre' } = process.env;
const { HOST = '127.0.0.1', PORT = '8080' } = process.env;
const MAX_QUERY = 200;
const MAX_RESULTS = 50;

/** Prints one line that says what a person must do, and ends the program. */
const fail = (message: string): never => {
  console.error(`workspace-search: ${message}`);
  process.exit(1);
};

if (DATABASE_URL === '') fail('DATABASE_URL: must be the URL of a Postgres, such as postgres://localhost/search');
if (!/^\d+$/.test(PORT) || Number(PORT) > 65_535) fail(`PORT: must be a number from 0 to 65535, got "${PORT}"`);

const database = new pg.Pool({ connectionString: DATABASE_URL });
// Without a listener, the end of an idle connection would end the program. The next statement opens another one.
database.on('error', (error) => console.warn(`Postgres: ${error.message}`));

const TABLE = `
  create table if not exists workspaces (
    id text primary key,
    organization text not null,
    name text not null,
    description text not null,
    tags text[] not null,
    locked boolean not null,
    words tsvector generated always as
      (to_tsvector('simple', replace(name, '-', ' ') || ' ' || name || ' ' || description)) stored
  );
  create index if not exists workspaces_words on workspaces using gin (words)`;
// The error of a host with several addresses has a code and no message.
await database
  .query(TABLE)
  .catch((error: NodeJS.ErrnoException) => fail(`Postgres at DATABASE_URL: ${error.message || error.code}`));

const consumer = new TransactionalConsumer({
  // The consumer reports what fails. kafkajs would print every attempt with a stack trace.
  kafka: new kafkajs.Kafka({
    clientId: 'workspace-search',
    brokers: KAFKA_BROKERS.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }),
  database,
  name: `${TOPIC_PREFIX}-workspace-search`,
  topics: [`${TOPIC_PREFIX}.workspaces.state`],
  handle: handleDocuments(async ({ id, organization, resource }, client) => {
    if (resource === null) {
      await client.query('delete from workspaces where id = $1', [id]);
      return;
    }
    const { attributes } = resource as DocumentResource;
    await client.query(
      `insert into workspaces (id, organization, name, description, tags, locked) values ($1, $2, $3, $4, $5, $6)
       on conflict (id) do update set (organization, name, description, tags, locked) =
         (excluded.organization, excluded.name, excluded.description, excluded.tags, excluded.locked)`,
      [
        id,
        organization,
        attributes['name'],
        attributes['description'] ?? '',
        attributes['tag-names'],
        attributes['locked'],
      ],
    );
  }),
});

const search = async (words: string): Promise<readonly unknown[]> => {
  const { rows } = await database.query<Record<string, unknown>>(
    `select id, organization, name, description, tags, locked from workspaces
     where words @@ websearch_to_tsquery('simple', $1) order by name, id limit $2`,
    [words, MAX_RESULTS],
  );
  return rows;
};

const respond = async (request: IncomingMessage): Promise<readonly [number, unknown]> => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname !== '/workspaces') return [404, { error: 'GET /workspaces?q=WORDS' }];
  const words = searchParams.get('q') ?? '';
  if (words === '' || words.length > MAX_QUERY) return [400, { error: `q has 1 to ${MAX_QUERY} characters` }];
  return [200, await search(words)];
};

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  respond(request)
    .catch((error: unknown) => {
      console.warn(error);
      return [503, { error: 'the search is unavailable, try again later' }] as const;
    })
    .then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    )
    .catch(console.warn);
};

await consumer.start().catch((error: Error) => fail(error.message));
const server = createServer(serve)
  .on('error', (error) => fail(error.message))
  .listen(Number(PORT), HOST, () => console.log(`http://${HOST}:${PORT}/workspaces?q=`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close();
    void consumer.stop().then(() => database.end());
  });
}

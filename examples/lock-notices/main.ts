/*
 * Posts to a chat when somebody locks or unlocks a workspace. Names of workspaces come from the same topic, and the program
 * keeps them in its database. A crash can repeat a notice: the header `Idempotency-Key` is the same then.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { handleEvents, TransactionalConsumer, type CadastreEvent } from '@cadastre/consumer';
import kafkajs from 'kafkajs';
import pg from 'pg';

const { KAFKA_BROKERS = 'localhost:9092', TOPIC_PREFIX = 'cadastre', RETRY_SECONDS = '60' } = process.env;
const { DATABASE_URL = '', CHAT_WEBHOOK_URL = '' } = process.env;
const TIMEOUT_MS = 10_000;
const MAX_RETRY_SECONDS = 86_400;

/** Prints one line that says what a person must do, and ends the program. */
const fail = (message: string): never => {
  console.error(`lock-notices: ${message}`);
  process.exit(1);
};

if (DATABASE_URL === '') fail('DATABASE_URL: must be the URL of a Postgres, such as postgres://localhost/notices');
if (!URL.canParse(CHAT_WEBHOOK_URL))
  fail(`CHAT_WEBHOOK_URL: must be the URL that accepts {"text": "…"}, got "${CHAT_WEBHOOK_URL}"`);
const retrySeconds = Number(RETRY_SECONDS);
if (!/^\d+$/.test(RETRY_SECONDS) || retrySeconds < 1 || retrySeconds > MAX_RETRY_SECONDS)
  fail(`RETRY_SECONDS: must be a whole number from 1 to ${MAX_RETRY_SECONDS}, got "${RETRY_SECONDS}"`);

const database = new pg.Pool({ connectionString: DATABASE_URL });
// Without a listener, the end of an idle connection would end the program. The next statement opens another one.
database.on('error', (error) => console.warn(`Postgres: ${error.message}`));

const readFirstStart = async (): Promise<Date> => {
  await database.query(`
    create table if not exists workspace_names (id text primary key, name text not null);
    create table if not exists first_start (at timestamptz not null default now())`);
  await database.query('insert into first_start select now() where not exists (select from first_start)');
  const { rows } = await database.query<{ at: Date }>('select at from first_start');
  return rows[0]?.at ?? new Date();
};
// The error of a host with several addresses has a code and no message.
const firstStart = await readFirstStart().catch((error: NodeJS.ErrnoException) =>
  fail(`Postgres at DATABASE_URL: ${error.message || error.code}`),
);

type LockEvent = CadastreEvent<'WorkspaceLocked' | 'WorkspaceUnlocked'>;

const post = async (text: string, { id }: LockEvent): Promise<void> => {
  const response = await fetch(CHAT_WEBHOOK_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': id },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the chat responded with ${response.status}`);
};

const announce = async (event: LockEvent, client: pg.ClientBase, what: string): Promise<void> => {
  // The topic has the whole history, and nobody wants to read the locks of last year.
  if (event.time < firstStart) return;
  const { rows: names } = await client.query<{ name: string }>('select name from workspace_names where id = $1', [
    event.stream,
  ]);
  await post(`${names[0]?.name ?? event.stream} ${what}`, event);
};

const storeName = (client: pg.ClientBase, id: string, name: string): Promise<unknown> =>
  client.query('insert into workspace_names values ($1, $2) on conflict (id) do update set name = excluded.name', [
    id,
    name,
  ]);

const consumer = new TransactionalConsumer({
  // The consumer reports what fails. kafkajs would print every attempt with a stack trace.
  kafka: new kafkajs.Kafka({
    clientId: 'lock-notices',
    brokers: KAFKA_BROKERS.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }),
  database,
  name: `${TOPIC_PREFIX}-lock-notices`,
  topics: [`${TOPIC_PREFIX}.workspaces`],
  // A later record that fails must not repeat the notices before it.
  recordsPerTransaction: 1,
  handle: handleEvents({
    handlers: {
      WorkspaceCreated: async ({ stream, data }, client) => {
        await storeName(client, stream, data.name);
      },
      WorkspaceUpdated: async ({ stream, data }, client) => {
        if (data.changes.name !== undefined) await storeName(client, stream, data.changes.name);
      },
      WorkspaceLocked: (event, client) =>
        announce(event, client, `was locked by ${event.data.holder.name}: ${event.data.reason}`),
      WorkspaceUnlocked: (event, client) =>
        announce(event, client, event.data.forced ? 'was unlocked by force' : 'was unlocked'),
    },
  }),
});

await consumer.start().catch((error: Error) => fail(error.message));
console.log('waiting for locks');

const stopping = new AbortController();

// A notice that the chat does not accept becomes a dead letter after 5 attempts. Each request takes up to 10 s, and the pauses
// 1.5 s. Later notices of the workspace wait behind it.
const retry = async (): Promise<void> => {
  const { handled, left } = await consumer.retryDeadLetters();
  if (handled + left > 0) console.log(`sent ${handled} notices again, ${left} are left`);
};

const retryUntilStop = async (): Promise<void> => {
  const { signal } = stopping;
  while (!signal.aborted) {
    await retry().catch(console.warn);
    // An abort ends the pause.
    await wait(retrySeconds * 1_000, undefined, { signal }).catch(() => undefined);
  }
};
const retrying = retryUntilStop();

const stop = async (): Promise<void> => {
  stopping.abort();
  await consumer.stop();
  await retrying;
  await database.end();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());

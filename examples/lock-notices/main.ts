/*
 * Posts to a chat when somebody locks or unlocks a workspace. Names of workspaces come from the same topic, and the program
 * keeps them in its database. A crash can repeat a notice: the header `Idempotency-Key` is the same then.
 */
import { handleEvents, TransactionalConsumer, type CadastreEvent } from '@cadastre/consumer';
import kafkajs from 'kafkajs';
import pg from 'pg';

const { KAFKA_BROKERS = 'localhost:9092', DATABASE_URL, TOPIC_PREFIX = 'cadastre', RETRY_SECONDS = '60' } = process.env;
const { CHAT_WEBHOOK_URL } = process.env;
if (!CHAT_WEBHOOK_URL) throw new Error('Set CHAT_WEBHOOK_URL to the address that takes {"text": "…"}');
const TIMEOUT_MS = 10_000;

const database = new pg.Pool({ connectionString: DATABASE_URL });
// Without a listener, the end of an idle connection would end the program. The next statement opens another one.
database.on('error', (error) => console.warn(`Postgres: ${error.message}`));

await database.query(`
  create table if not exists workspace_names (id text primary key, name text not null);
  create table if not exists first_start (at timestamptz not null default now())`);
await database.query('insert into first_start select now() where not exists (select from first_start)');
const { rows } = await database.query<{ at: Date }>('select at from first_start');
const firstStart = rows[0]?.at ?? new Date();

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
  kafka: new kafkajs.Kafka({ clientId: 'lock-notices', brokers: KAFKA_BROKERS.split(',') }),
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

await consumer.start();
console.log('waiting for locks');

// Notices that the chat did not accept are dead letters after 1.5 s, and later notices of the workspace wait behind them.
const retry = async (): Promise<void> => {
  const { handled, left } = await consumer.retryDeadLetters();
  if (handled + left > 0) console.log(`sent ${handled} notices again, ${left} are left`);
};
const retries = setInterval(() => void retry().catch(console.warn), Number(RETRY_SECONDS) * 1_000);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    clearInterval(retries);
    void consumer.stop().then(() => database.end());
  });
}

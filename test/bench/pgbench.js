// The bound of a write: event and view in one statement, in a database of its own on the product's Postgres.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { output } from './programs.js';

const DATABASE = 'bench';

const EVENT = JSON.stringify({
  holder: { id: 'user-0123456789abcdef', type: 'users', name: 'admin' },
  reason: 'bench',
});
const SETTINGS = JSON.stringify({ description: 'created by a benchmark', autoApply: false, executionMode: 'remote' });
const CONTEXT = JSON.stringify({
  accessor: { id: 'user-0123456789abcdef', type: 'users', name: 'admin' },
  auth: 'Client',
  impersonator: null,
  request: { id: '019a0000-0000-7000-8000-000000000000', address: '127.0.0.1', userAgent: null },
  correlation: '019a0000-0000-7000-8000-000000000000',
  causation: null,
});

// The same keys and indexes as the log and a view, nothing else.
const SCHEMA = `
  create table events (
    transaction xid8 not null default pg_current_xact_id(), position bigint not null generated always as identity,
    id uuid not null unique, stream text not null, version bigint not null, type text not null,
    schema_version integer not null, organization text, time timestamptz not null, data jsonb not null,
    context jsonb not null, primary key (transaction, position), unique (stream, version));
  create table view (
    id text primary key, organization text not null, name text not null, version bigint not null, settings jsonb not null,
    lock jsonb, updated_at timestamptz not null, unique (organization, name)) with (fillfactor = 70);
  insert into view select 'ws-' || n, 'org-1', 'workspace-' || n, 0, '${SETTINGS}', null, now()
    from generate_series(1, 256) n;`;

const event = (from) => `
  insert into events (id, stream, version, type, schema_version, organization, time, data, context)
  select gen_random_uuid(), id, version, 'Happened', 1, 'org-1', now(), :event::jsonb, :context::jsonb from ${from}`;

/** A user whose password costs nothing to verify: otherwise 64 concurrent logins would take longer than the run. */
const USER = (password) => `
  set scram_iterations = 1;
  create role ${DATABASE} login password '${password}';
  grant all on events, view to ${DATABASE}`;

const inOneLine = (text) => text.replaceAll(/\s+/g, ' ').trim();

// Each client has its own rows, because the product's load does not queue for one row either.
const SCRIPTS = {
  update: `\\set id 1 + :client_id * 4 + random(0, 3)
${inOneLine(`with changed as (update view set version = version + 1, lock = :event::jsonb, updated_at = now()
    where id = 'ws-' || :id returning id, version) ${event('changed')}`)};\n`,
  insert: `${inOneLine(`with made as (insert into view select id, 'org-1', id, 1, :settings::jsonb, null, now()
    from (select 'ws-' || gen_random_uuid() as id) new returning id, version) ${event('made')}`)};\n`,
};

export const openPgbench = async (databaseUrl) => {
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  await admin.query(`create database ${DATABASE}`);
  await admin.end();
  const url = new URL(databaseUrl);
  url.pathname = `/${DATABASE}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(SCHEMA);
  const password = randomBytes(16).toString('hex');
  await client.query(USER(password));
  await client.end();

  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-pgbench-'));
  for (const [name, script] of Object.entries(SCRIPTS)) await writeFile(join(folder, `${name}.sql`), script);
  const values = ['-D', `event=${EVENT}`, '-D', `context=${CONTEXT}`, '-D', `settings=${SETTINGS}`];
  const env = {
    PGHOST: url.searchParams.get('host') ?? url.hostname,
    PGPORT: url.port,
    PGUSER: DATABASE,
    PGPASSWORD: password,
    PGDATABASE: DATABASE,
  };
  return {
    /** Returns statements per second. */
    run: async (script, clients, seconds) => {
      const args = [
        '-n',
        '-M',
        'prepared',
        ...values,
        '-c',
        clients,
        '-j',
        1,
        '-T',
        seconds,
        '-f',
        join(folder, `${script}.sql`),
      ];
      const text = await output('pgbench', args.map(String), env);
      const [, rate] = /^tps = ([\d.]+) \(without/m.exec(text) ?? [];
      if (!rate || !text.includes('failed transactions: 0')) throw new Error(`pgbench failed:\n${text}`);
      return Number(rate);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
};

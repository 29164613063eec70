import type { ClientBase } from 'pg';

/** An advisory lock, so that consumers that start at once do not create the tables at once. */
const LOCK = 0x63_61_64_61;

/**
 * The tables of all consumers of a database: how far each one has read, the last version of each stream that it has handled,
 * and the records that it could not handle.
 */
export const createTables = async (client: ClientBase, schema: string): Promise<void> => {
  const name = quoteName(schema);
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  await client.query(`
    create schema if not exists ${name};
    create table if not exists ${name}.offsets (
      consumer text, topic text, partition int,
      next_offset bigint not null,
      primary key (consumer, topic, partition)
    );
    create table if not exists ${name}.streams (
      consumer text, topic text, stream text,
      version bigint not null,
      primary key (consumer, topic, stream)
    );
    create table if not exists ${name}.dead_letters (
      consumer text, topic text, partition int, message_offset bigint,
      key bytea,
      headers jsonb not null,
      value bytea,
      error text not null,
      -- Waits only because an earlier record of its key is here.
      is_waiting boolean not null,
      received_at timestamptz not null default now(),
      primary key (consumer, topic, partition, message_offset)
    );
    create index if not exists dead_letters_key on ${name}.dead_letters (consumer, topic, key)`);
};

/** Quotes a name for SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

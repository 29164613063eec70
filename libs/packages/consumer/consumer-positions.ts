import type { ClientBase } from 'pg';
import { quoteName } from './consumer-tables.js';

export type Partition = { readonly topic: string; readonly partition: number };

/** Returns `TOPIC/PARTITION`: the key of a partition in maps, and its name in messages. */
export const formatPartition = ({ topic, partition }: Partition): string => `${topic}/${partition}`;

export type HandledVersion = { readonly isNew: boolean; readonly previous: number | null };

/**
 * A process that lost its power holds its lock until Postgres sees that the connection is dead, by default after two hours.
 * A process that waits for the lock must be able to stop.
 */
const WHILE_WAITING = `
  set local tcp_keepalives_idle = 10; set local tcp_keepalives_interval = 5; set local tcp_keepalives_count = 3;
  set local lock_timeout = '10s'`;

/** How far one consumer has handled its partitions and streams. */
export class ConsumerPositions {
  private readonly schema: string;

  constructor(
    private readonly consumer: string,
    schema: string,
  ) {
    this.schema = quoteName(schema);
  }

  /** Returns the stored offsets of topics, by `TOPIC/PARTITION`. A partition that was never read has none. */
  async load(client: ClientBase, topics: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const { rows } = await client.query<{ topic: string; partition: number; next_offset: string }>(
      `select topic, partition, next_offset from ${this.schema}.offsets where consumer = $1 and topic = any($2::text[])`,
      [this.consumer, topics],
    );
    return new Map(rows.map((row) => [formatPartition(row), BigInt(row.next_offset)]));
  }

  /**
   * Returns the offset at which a partition continues, 0 at first, and locks it until the end of the transaction: a process
   * that lost the partition and does not know it yet cannot handle a record twice.
   */
  async lock(client: ClientBase, { topic, partition }: Partition): Promise<bigint> {
    const key = [this.consumer, topic, partition];
    await client.query(WHILE_WAITING);
    await client.query(
      `insert into ${this.schema}.offsets (consumer, topic, partition, next_offset) values ($1, $2, $3, 0)
       on conflict do nothing`,
      key,
    );
    const { rows } = await client.query<{ next_offset: string }>(
      `select next_offset from ${this.schema}.offsets where consumer = $1 and topic = $2 and partition = $3 for update`,
      key,
    );
    await client.query('set local lock_timeout to default');
    return BigInt(rows[0]?.next_offset ?? 0);
  }

  async store(client: ClientBase, { topic, partition }: Partition, nextOffset: bigint): Promise<void> {
    await client.query(
      `update ${this.schema}.offsets set next_offset = $4 where consumer = $1 and topic = $2 and partition = $3`,
      [this.consumer, topic, partition, nextOffset.toString()],
    );
  }

  /**
   * Stores the last version of a stream. `isNew` is false if that version, or a later one, is stored already. `previous` is the
   * version that was stored before, or null.
   */
  async storeVersion(client: ClientBase, topic: string, stream: string, version: number): Promise<HandledVersion> {
    const { rows } = await client.query<{ version: string | null; is_new: boolean }>(
      `with previous as (
         select version from ${this.schema}.streams where consumer = $1 and topic = $2 and stream = $3
       ), stored as (
         insert into ${this.schema}.streams (consumer, topic, stream, version) values ($1, $2, $3, $4)
         on conflict (consumer, topic, stream) do update set version = excluded.version
         where streams.version < excluded.version
         returning 1
       )
       select (select version from previous) as version, exists (select from stored) as is_new`,
      [this.consumer, topic, stream, version],
    );
    const [row] = rows;
    return { isNew: row?.is_new === true, previous: row?.version ? Number(row.version) : null };
  }

  /** Forgets how far a topic and its streams were handled. */
  async remove(client: ClientBase, topic: string): Promise<void> {
    for (const table of ['offsets', 'streams']) {
      await client.query(`delete from ${this.schema}.${table} where consumer = $1 and topic = $2`, [
        this.consumer,
        topic,
      ]);
    }
  }
}

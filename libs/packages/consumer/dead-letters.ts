import type { IHeaders } from 'kafkajs';
import type { ClientBase } from 'pg';
import type { TopicRecord } from './cloud-event.js';
import { quoteName } from './consumer-tables.js';

/** A record that a consumer could not handle, or that waits because an earlier record of its key could not be handled. */
export type DeadLetter = {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  /** The stream of the event, or the id of the document. */
  readonly key: string | null;
  readonly error: string;
  readonly isWaiting: boolean;
  readonly receivedAt: Date;
};

export type TopicOffset = { readonly topic: string; readonly partition: number; readonly offset: bigint };

/** A dead letter as it came. */
export type StoredRecord = TopicOffset & { readonly record: TopicRecord };

type LetterRow = {
  readonly topic: string;
  readonly partition: number;
  readonly message_offset: string;
  readonly key: Buffer | null;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly value: Buffer | null;
  readonly error: string;
  readonly is_waiting: boolean;
  readonly received_at: Date;
};

type RecordColumn = 'key' | 'headers' | 'value';

/** A key whose later dead letters wait, because an earlier one failed again. */
export type FailedKey = { readonly topic: string; readonly key: Buffer };

const ERROR_MAX = 2_000;

/** The dead letters of one consumer. */
export class DeadLetters {
  private readonly table: string;

  constructor(
    private readonly consumer: string,
    schema: string,
  ) {
    this.table = `${quoteName(schema)}.dead_letters`;
  }

  /** Adds a record that failed. */
  add(client: ClientBase, record: TopicRecord, location: TopicOffset, error: string): Promise<void> {
    return this.insert(client, record, location, { error, isWaiting: false });
  }

  /** Adds a record of a key that has a dead letter. */
  addWaiting(client: ClientBase, record: TopicRecord, location: TopicOffset): Promise<void> {
    return this.insert(client, record, location, { error: 'waits for an earlier record of its key', isWaiting: true });
  }

  /** Returns which keys of these records have dead letters, in hexadecimal. */
  async selectKeys(client: ClientBase, topic: string, records: readonly TopicRecord[]): Promise<ReadonlySet<string>> {
    const keys = [...new Set(records.flatMap(({ key }) => (key === null ? [] : [key.toString('hex')])))];
    const { rows } = await client.query<{ key: Buffer }>(
      `select distinct key from ${this.table}
       where consumer = $1 and topic = $2 and key in (select decode(k, 'hex') from unnest($3::text[]) k)`,
      [this.consumer, topic, keys],
    );
    return new Set(rows.map(({ key }) => key.toString('hex')));
  }

  /** Returns the first dead letters, in the order of their topics, without their values. */
  async list(client: ClientBase, limit: number): Promise<readonly DeadLetter[]> {
    const { rows } = await client.query<Omit<LetterRow, 'headers' | 'value'>>(
      `select topic, partition, message_offset, key, error, is_waiting, received_at from ${this.table}
       where consumer = $1 order by topic, partition, message_offset limit $2`,
      [this.consumer, limit],
    );
    return rows.map((row) => ({
      topic: row.topic,
      partition: row.partition,
      offset: BigInt(row.message_offset),
      key: row.key?.toString() ?? null,
      error: row.error,
      isWaiting: row.is_waiting,
      receivedAt: row.received_at,
    }));
  }

  async count(client: ClientBase): Promise<number> {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) as count from ${this.table} where consumer = $1`,
      [this.consumer],
    );
    return Number(rows[0]?.count);
  }

  /** Returns the first dead letter after a location whose key has not failed. Null if there is none. */
  async findNext(
    client: ClientBase,
    after: TopicOffset | null,
    failed: readonly FailedKey[],
  ): Promise<StoredRecord | null> {
    const { rows } = await client.query<Pick<LetterRow, 'topic' | 'partition' | 'message_offset' | RecordColumn>>(
      `select topic, partition, message_offset, key, headers, value from ${this.table} letters
       where consumer = $1 and ($2::text is null or (topic, partition, message_offset) > ($2, $3::int, $4::bigint))
         and not exists (
           select from unnest($5::text[], $6::text[]) failed (topic, key)
           where failed.topic = letters.topic and decode(failed.key, 'hex') = letters.key
         )
       order by topic, partition, message_offset limit 1`,
      [
        this.consumer,
        after?.topic ?? null,
        after?.partition ?? 0,
        (after?.offset ?? 0n).toString(),
        failed.map(({ topic }) => topic),
        failed.map(({ key }) => key.toString('hex')),
      ],
    );
    const [row] = rows;
    if (!row) return null;
    const record = { key: row.key, value: row.value, headers: decodeHeaders(row.headers) };
    return { topic: row.topic, partition: row.partition, offset: BigInt(row.message_offset), record };
  }

  /** Returns false if the dead letter is gone. */
  async remove(client: ClientBase, { topic, partition, offset }: TopicOffset): Promise<boolean> {
    const { rowCount } = await client.query(
      `delete from ${this.table} where consumer = $1 and topic = $2 and partition = $3 and message_offset = $4`,
      [this.consumer, topic, partition, offset.toString()],
    );
    return rowCount === 1;
  }

  /** Removes all dead letters of a topic. */
  async removeAll(client: ClientBase, topic: string): Promise<void> {
    await client.query(`delete from ${this.table} where consumer = $1 and topic = $2`, [this.consumer, topic]);
  }

  /** Keeps a dead letter that is stored already: the record is read again if somebody has emptied only the offsets. */
  private async insert(
    client: ClientBase,
    record: TopicRecord,
    { topic, partition, offset }: TopicOffset,
    { error, isWaiting }: { readonly error: string; readonly isWaiting: boolean },
  ): Promise<void> {
    const headers = JSON.stringify(encodeHeaders(record));
    // Postgres stores no NUL in a text.
    const text = error.slice(0, ERROR_MAX).replaceAll('\0', '\u{FFFD}');
    await client.query(
      `insert into ${this.table} (consumer, topic, partition, message_offset, key, headers, value, error, is_waiting)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (consumer, topic, partition, message_offset) do nothing`,
      [this.consumer, topic, partition, offset.toString(), record.key, headers, record.value, text, isWaiting],
    );
  }
}

/** Returns the values of each header in base64: they can be any bytes, and a header can have several. */
const encodeHeaders = ({ headers = {} }: TopicRecord): LetterRow['headers'] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      Buffer.from(name).toString('base64'),
      [value ?? []].flat().map((one) => Buffer.from(one).toString('base64')),
    ]),
  );

const decodeHeaders = (headers: LetterRow['headers']): IHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      Buffer.from(name, 'base64').toString(),
      values.map((value) => Buffer.from(value, 'base64')),
    ]),
  );

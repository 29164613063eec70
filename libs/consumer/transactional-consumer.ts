import { setTimeout as wait } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import type { ClientBase, Pool } from 'pg';
import { UnreadableRecordError, type TopicRecord } from './cloud-event.js';
import { ConsumerPositions, type Partition } from './consumer-positions.js';
import { createTables } from './consumer-tables.js';
import { DeadLetters, type DeadLetter, type TopicOffset, type StoredRecord } from './dead-letters.js';
import { isOutage } from './outages.js';
import { inTransaction } from './transactions.js';

/** What a handler of a record gets besides the record. */
export type RecordContext = {
  /** A connection in the transaction that also stores the offset. */
  readonly client: ClientBase;
  readonly topic: string;
  /** Stores the last version of a stream. Returns false if that version, or a later one, was handled before. */
  readonly storeVersion: (stream: string, version: number) => Promise<boolean>;
};

/** Handles one record. Throws if the record cannot be handled; what it wrote is then undone. */
export type RecordHandler = (record: TopicRecord, context: RecordContext) => Promise<void>;

/** Receives what happens in the background. `console` fits. */
export type ConsumerLogger = { warn(message: string): void };

export type ConsumerOptions = {
  readonly kafka: Kafka;
  readonly database: Pool;
  /** Name of the consumer: its group in Kafka, and its rows in the tables. Processes of one name share the partitions. */
  readonly name: string;
  readonly topics: readonly string[];
  readonly handle: RecordHandler;
  /** Schema of the tables that `start` creates. Default: `cadastre_consumer`. */
  readonly schema?: string;
  /** Attempts at a record before it becomes a dead letter. Outages of Postgres do not count. Default: 5. */
  readonly attempts?: number;
  /** If one record fails, those of its transaction are handled again. 1 if a handler has effects outside. Default: 500. */
  readonly recordsPerTransaction?: number;
  /** Default: `console`. */
  readonly logger?: ConsumerLogger;
};

const DEFAULT_SCHEMA = 'cadastre_consumer';
const DEFAULT_ATTEMPTS = 5;
const DEFAULT_RECORDS_PER_TRANSACTION = 500;

// The group replaces a killed process after this time. With kafkajs' default of 30 s, its records would wait that long.
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 1_000;
const FETCH_MS = 500;

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 10_000;

type Chunk = Partition & { readonly records: readonly KafkaMessage[] };

/**
 * Handles the records of topics exactly once in Postgres: what a handler writes and the offset of its record are one
 * transaction, and a partition continues at the offset in Postgres, whatever the group has committed in Kafka.
 *
 *   record ──handled──► committed with its offset
 *     │  └──fails──► again after a pause ──after `attempts`──► dead letter, committed with its offset
 *     └──an earlier record of its key is a dead letter──► waits behind it, so that each stream stays in order
 */
export class TransactionalConsumer {
  private readonly consumer: Consumer;
  private readonly stopping = new AbortController();
  private readonly positions: ConsumerPositions;
  private readonly letters: DeadLetters;
  private readonly logger: ConsumerLogger;
  /** Partitions whose first offset was compared with Postgres since the last assignment. */
  private readonly compared = new Set<string>();
  /** Failures in a row. */
  private failures = 0;

  constructor(private readonly options: ConsumerOptions) {
    const { name, schema = DEFAULT_SCHEMA, logger = console, kafka } = options;
    this.positions = new ConsumerPositions(name, schema);
    this.letters = new DeadLetters(name, schema);
    this.logger = logger;
    this.consumer = kafka.consumer({
      groupId: name,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_MS,
      allowAutoTopicCreation: false,
      // kafkajs ends after an error that it does not retry. A copy that has ended grows old and nobody sees it.
      retry: { restartOnFailure: () => Promise.resolve(!this.stopping.signal.aborted) },
    });
  }

  /** Creates the tables, joins the group and reads. Rejects if Postgres or Kafka is away, or a topic does not exist. */
  async start(): Promise<void> {
    const { database, topics, schema = DEFAULT_SCHEMA } = this.options;
    await inTransaction(database, (client) => createTables(client, schema));
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [...topics], fromBeginning: true });
    this.consumer.on(this.consumer.events.GROUP_JOIN, () => this.compared.clear());
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.takeBatch(payload),
    });
  }

  /** Finishes the current transaction and leaves the group. The pool stays open. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.consumer.disconnect();
  }

  /** Returns the dead letters of this consumer, in the order of their topics. */
  listDeadLetters(): Promise<readonly DeadLetter[]> {
    return inTransaction(this.options.database, (client) => this.letters.list(client));
  }

  /**
   * Handles dead letters again, in order, each in a transaction of its own. After one that fails, the others of its key wait
   * on. Returns how many were handled, and how many are left.
   */
  async retryDeadLetters(): Promise<{ readonly handled: number; readonly left: number }> {
    const failedKeys = new Set<string>();
    let handled = 0;
    let last: StoredRecord | null = null;
    for (;;) {
      const letter: StoredRecord | null = await this.findDeadLetter(last);
      if (letter === null) return { handled, left: (await this.listDeadLetters()).length };
      last = letter;
      const key = `${letter.topic} ${letter.record.key?.toString('hex') ?? letter.offset}`;
      if (failedKeys.has(key)) continue;
      if (await this.retry(letter)) handled += 1;
      else failedKeys.add(key);
    }
  }

  private findDeadLetter(after: StoredRecord | null): Promise<StoredRecord | null> {
    return inTransaction(this.options.database, (client) => this.letters.findNext(client, after));
  }

  private async retry(letter: StoredRecord): Promise<boolean> {
    try {
      await inTransaction(this.options.database, async (client) => {
        // The partition adds no record behind this one until the transaction ends.
        await this.positions.lock(client, letter);
        if (await this.letters.remove(client, letter)) await this.handle(client, letter.topic, letter.record);
      });
      return true;
    } catch (error) {
      if (isOutage(error)) throw error;
      this.logger.warn(`${describeLocation(letter)} failed again: ${describe(error)}`);
      return false;
    }
  }

  private async takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    let lost: Error | null = null;
    // Heartbeats continue while a handler waits, so that the group leaves the partition to this member.
    const beat = setInterval(() => void payload.heartbeat().catch((error: Error) => (lost = error)), HEARTBEAT_MS);
    const isOurs = (): boolean => {
      if (lost) throw lost;
      return payload.isRunning() && !payload.isStale() && !this.stopping.signal.aborted;
    };
    try {
      if (await this.seekStoredOffset(batch)) return;
      const { topic, partition } = batch;
      const { recordsPerTransaction = DEFAULT_RECORDS_PER_TRANSACTION } = this.options;
      for (const records of splitIntoChunks(batch.messages, recordsPerTransaction)) {
        if (!(await this.handleChunk({ topic, partition, records }, isOurs))) return;
        payload.resolveOffset(records.at(-1)?.offset ?? '');
        // For those who watch the lag of the group. The offset that counts is in Postgres.
        await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
      }
    } finally {
      clearInterval(beat);
    }
  }

  /** Returns true if Kafka starts behind the offset in Postgres, and reads from there instead, as after a restored backup. */
  private async seekStoredOffset({ topic, partition, messages }: EachBatchPayload['batch']): Promise<boolean> {
    const key = `${topic} ${partition}`;
    const [first] = messages;
    if (this.compared.has(key) || first === undefined) return false;
    const stored = await inTransaction(this.options.database, (client) =>
      this.positions.lock(client, { topic, partition }),
    );
    this.compared.add(key);
    if (BigInt(first.offset) <= stored) return false;
    this.consumer.seek({ topic, partition, offset: stored.toString() });
    return true;
  }

  /** Returns false if the partition was lost or the consumer stops before the chunk is committed. */
  private async handleChunk(chunk: Chunk, isOurs: () => boolean): Promise<boolean> {
    const outcome = await this.attempt((client) => this.handleRecords(client, chunk), isOurs);
    if (!(outcome instanceof Error)) return outcome === 'committed';
    const [first, ...others] = chunk.records;
    if (first === undefined || others.length === 0) return this.handleFailing(chunk, outcome, isOurs);
    // One by one, so that the record that fails does not hold up the others.
    for (const record of chunk.records) {
      if (!(await this.handleChunk({ ...chunk, records: [record] }, isOurs))) return false;
    }
    return true;
  }

  /** Tries the only record of a chunk again, and then makes it a dead letter. */
  private async handleFailing(chunk: Chunk, failure: Error, isOurs: () => boolean): Promise<boolean> {
    const { attempts = DEFAULT_ATTEMPTS } = this.options;
    let last = failure;
    for (let done = 1; done < attempts && !(last instanceof UnreadableRecordError); done += 1) {
      await this.pause(`${describeLocation(toLocation(chunk))} failed: ${last.message}`);
      const outcome = await this.attempt((client) => this.handleRecords(client, chunk), isOurs);
      if (!(outcome instanceof Error)) return outcome === 'committed';
      last = outcome;
    }
    const outcome = await this.attempt((client) => this.bury(client, chunk, last), isOurs);
    if (outcome instanceof Error) throw outcome;
    return outcome === 'committed';
  }

  /** Runs work in a transaction, again and again while Postgres is away. Returns the error if the work itself fails. */
  private async attempt(
    work: (client: ClientBase) => Promise<void>,
    isOurs: () => boolean,
  ): Promise<'committed' | 'interrupted' | Error> {
    while (isOurs()) {
      try {
        await inTransaction(this.options.database, work);
        this.failures = 0;
        return 'committed';
      } catch (error) {
        if (!isOutage(error)) return error instanceof Error ? error : new Error(describe(error));
        await this.pause(`Postgres is away: ${describe(error)}`);
      }
    }
    return 'interrupted';
  }

  private async handleRecords(client: ClientBase, { topic, partition, records }: Chunk): Promise<void> {
    const next = await this.positions.lock(client, { topic, partition });
    const fresh = records.filter(({ offset }) => BigInt(offset) >= next);
    const last = fresh.at(-1);
    if (last === undefined) return;
    const waiting = await this.letters.selectKeys(client, topic, fresh);
    for (const record of fresh) {
      const location = { topic, partition, offset: BigInt(record.offset) };
      if (record.key !== null && waiting.has(record.key.toString('hex')))
        await this.letters.addWaiting(client, record, location);
      else await this.handle(client, topic, record);
    }
    await this.positions.store(client, { topic, partition }, BigInt(last.offset) + 1n);
  }

  private handle(client: ClientBase, topic: string, record: TopicRecord): Promise<void> {
    const storeVersion = (stream: string, version: number): Promise<boolean> =>
      this.positions.storeVersion(client, topic, stream, version);
    return this.options.handle(record, { client, topic, storeVersion });
  }

  private async bury(client: ClientBase, chunk: Chunk, failure: Error): Promise<void> {
    const { topic, partition, records } = chunk;
    const [record] = records;
    const next = await this.positions.lock(client, { topic, partition });
    if (record === undefined || BigInt(record.offset) < next) return;
    const location = toLocation(chunk);
    await this.letters.add(client, record, location, failure.message);
    await this.positions.store(client, { topic, partition }, location.offset + 1n);
    this.logger.warn(`${describeLocation(location)} is a dead letter: ${failure.message}`);
  }

  /** Waits before the next attempt, longer after each failure. Logs the failures 1, 2, 4, 8 … in a row. */
  private async pause(message: string): Promise<void> {
    this.failures += 1;
    if (Number.isInteger(Math.log2(this.failures))) this.logger.warn(message);
    const pause = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (this.failures - 1));
    // An abort ends the pause, and the caller looks for it.
    await wait(pause, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

const splitIntoChunks = <R>(records: readonly R[], size: number): readonly (readonly R[])[] =>
  Array.from({ length: Math.ceil(records.length / size) }, (_, n) => records.slice(n * size, (n + 1) * size));

const toLocation = ({ topic, partition, records }: Chunk): TopicOffset => ({
  topic,
  partition,
  offset: BigInt(records[0]?.offset ?? 0),
});

const describeLocation = ({ topic, partition, offset }: TopicOffset): string =>
  `record ${offset} of ${topic}/${partition}`;

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

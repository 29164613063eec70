import type { Kafka } from 'kafkajs';
import type { Pool } from 'pg';
import { createTables } from './consumer-tables.js';
import type { DeadLetter, StoredRecord } from './dead-letters.js';
import { ConsumerGroupMember } from './consumer-group-member.js';
import { toHandlerFailure } from './handler-failure.js';
import { PartitionReader } from './partition-reader.js';
import { describeOffset, RecordTransactions, type RecordHandler } from './record-transactions.js';
import { describeError, RetryPauses, type ConsumerLogger } from './retry-pauses.js';
import { inTransaction } from './transactions.js';

export type ConsumerOptions = {
  readonly kafka: Kafka;
  readonly database: Pool;
  /** Name of the consumer: its group in Kafka, and its rows in the tables. Processes of one name share the partitions. */
  readonly name: string;
  readonly topics: readonly string[];
  readonly handle: RecordHandler;
  /** Schema of the tables that `start` creates. Default: `cadastre_consumer`. */
  readonly schema?: string;
  /** Attempts at a record before it becomes a dead letter. Only failures of the handler count. Default: 5, over 1.5 s. */
  readonly attempts?: number;
  /** If one record fails, those of its transaction are handled again. 1 if a handler has effects outside. Default: 500. */
  readonly recordsPerTransaction?: number;
  /** Default: `console`. */
  readonly logger?: ConsumerLogger;
};

const DEFAULT_SCHEMA = 'cadastre_consumer';
const DEFAULT_ATTEMPTS = 5;
const DEFAULT_RECORDS_PER_TRANSACTION = 500;
/** Attempts at a dead letter whose transaction fails with a deadlock or a serialization failure. */
const RETRY_ATTEMPTS = 5;

/**
 * Handles the records of topics exactly once in Postgres: what a handler writes and the offset of its record are one
 * transaction, and a partition continues at the offset in Postgres, whatever the group has committed in Kafka.
 *
 *   record ──handled──► committed with its offset
 *     │  └──fails──► again after a pause ──after `attempts`──► dead letter, committed with its offset
 *     └──an earlier record of its key is a dead letter──► waits behind it, so that each stream stays in order
 */
export class TransactionalConsumer {
  private readonly stopping = new AbortController();
  private readonly records: RecordTransactions;
  private readonly member: ConsumerGroupMember;
  private readonly logger: ConsumerLogger;
  private retrying: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ConsumerOptions) {
    const { name, kafka, topics, database, handle, schema = DEFAULT_SCHEMA, logger = console } = options;
    const { attempts = DEFAULT_ATTEMPTS, recordsPerTransaction = DEFAULT_RECORDS_PER_TRANSACTION } = options;
    checkPositive({ attempts, recordsPerTransaction });
    this.logger = logger;
    const { signal } = this.stopping;
    const pauses = new RetryPauses(logger, signal);
    this.records = new RecordTransactions({
      database,
      consumer: name,
      schema,
      handle,
      attempts,
      logger,
      pauses,
    });
    const { records } = this;
    const reader = new PartitionReader({ records, pauses, logger, recordsPerTransaction, signal });
    this.member = new ConsumerGroupMember({
      kafka,
      group: name,
      topics,
      signal,
      pauses,
      onAssigned: (assignment, consumer, isCurrent) => reader.assign(assignment, consumer, isCurrent),
      onBatch: (payload, consumer) => reader.handleBatch(payload, consumer),
    });
  }

  /** Creates the tables, joins the group and reads. Rejects if Postgres or Kafka is unavailable, or a topic does not exist. */
  async start(): Promise<void> {
    const { database, schema = DEFAULT_SCHEMA } = this.options;
    database.on('error', this.logIdleError);
    await inTransaction(database, (client) => createTables(client, schema));
    await this.member.join();
  }

  /** Finishes the current transaction and leaves the group. The pool stays open. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.member.leave();
    await this.retrying;
    this.options.database.off('error', this.logIdleError);
  }

  /** Returns the dead letters of this consumer, in the order of their topics. Needs no `start`. */
  listDeadLetters(): Promise<readonly DeadLetter[]> {
    return inTransaction(this.options.database, (client) => this.records.letters.list(client));
  }

  /**
   * Handles dead letters again, in order, each in a transaction of its own. If one fails, the later ones of its key wait.
   * Returns how many were handled, and how many are left. Rejects if Postgres is unavailable. Needs no `start`.
   */
  retryDeadLetters(): Promise<{ readonly handled: number; readonly left: number }> {
    const retrying = this.retryAll();
    this.retrying = retrying.catch(() => undefined);
    return retrying;
  }

  /** Forgets how far a topic was read, and its dead letters. After the topic was deleted and created again. */
  async resetTopic(topic: string): Promise<void> {
    await this.records.reset(topic);
  }

  private async retryAll(): Promise<{ readonly handled: number; readonly left: number }> {
    const failedKeys = new Set<string>();
    let handled = 0;
    let last: StoredRecord | null = null;
    while (!this.stopping.signal.aborted) {
      const letter: StoredRecord | null = await this.findDeadLetter(last);
      if (letter === null) break;
      last = letter;
      const key = `${letter.topic} ${letter.record.key?.toString('hex') ?? letter.offset}`;
      if (failedKeys.has(key)) continue;
      if (await this.retry(letter)) handled += 1;
      else failedKeys.add(key);
    }
    return { handled, left: (await this.listDeadLetters()).length };
  }

  private findDeadLetter(after: StoredRecord | null): Promise<StoredRecord | null> {
    return inTransaction(this.options.database, (client) => this.records.letters.findNext(client, after));
  }

  private async retry(letter: StoredRecord): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.records.retry(letter);
        return true;
      } catch (error) {
        const failure = toHandlerFailure(error);
        if (failure === null && attempt < RETRY_ATTEMPTS) continue;
        if (failure === null) throw error;
        this.logger.warn(`${describeOffset(letter)} failed again: ${failure.message}`);
        return false;
      }
    }
  }

  private readonly logIdleError = (error: Error): void => {
    this.logger.warn(`an idle connection to Postgres ended: ${describeError(error)}`);
  };
}

const checkPositive = (options: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} must be a whole number from 1 up, got ${value}`);
  }
};

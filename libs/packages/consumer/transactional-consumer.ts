import type { Kafka } from 'kafkajs';
import type { Pool } from 'pg';
import { createTables } from './consumer-tables.js';
import { DeadLetterQueue, type RetryResult } from './dead-letter-queue.js';
import type { DeadLetter } from './dead-letters.js';
import { ConsumerGroupMember } from './consumer-group-member.js';
import { PartitionReader } from './partition-reader.js';
import type { RecordHandler } from './record-handler.js';
import { RecordTransactions } from './record-transactions.js';
import { describeError, RetryPauses, type ConsumerLogger } from './retry-pauses.js';
import { checkTopics } from './topic-admin.js';
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

const DEFAULT_LETTERS = 100;

const addDefaults = ({
  schema = 'cadastre_consumer',
  attempts = 5,
  recordsPerTransaction = 500,
  logger = console,
  ...required
}: ConsumerOptions): Required<ConsumerOptions> => ({ ...required, schema, attempts, recordsPerTransaction, logger });

/**
 * Handles the records of topics exactly once in Postgres: what a handler writes and the offset of its record are one
 * transaction, and a partition continues at the offset in Postgres, whatever the group has committed in Kafka.
 *
 * While a record is retried, all partitions of the process wait.
 *
 *   record ──handled──► committed with its offset
 *     │  └──fails──► again after a pause ──after `attempts`──► dead letter, committed with its offset
 *     └──an earlier record of its key is a dead letter──► waits behind it, so that each stream stays in order
 */
export class TransactionalConsumer {
  private readonly options: Required<ConsumerOptions>;
  private readonly letters: DeadLetterQueue;
  /** Aborts what runs at a stop. Each stop renews it for the next start. */
  private stopping = new AbortController();
  /** The member of the group, from a start to the end of the next stop. */
  private running: ConsumerGroupMember | null = null;
  private starting: Promise<void> = Promise.resolve();
  private readonly retries = new Set<Promise<RetryResult>>();

  constructor(options: ConsumerOptions) {
    this.options = addDefaults(options);
    const { name, topics, database, handle, schema, logger, attempts, recordsPerTransaction } = this.options;
    checkPositive({ attempts, recordsPerTransaction });
    if (topics.length === 0) throw new RangeError('topics must name at least one topic, got none');
    this.letters = new DeadLetterQueue({ database, consumer: name, schema, handle, logger });
  }

  /**
   * Creates the tables, joins the group and reads. Rejects if the consumer is running, if Postgres or Kafka is unavailable, or
   * if a topic does not exist.
   */
  async start(): Promise<void> {
    if (this.running) throw new Error('the consumer is running: wait for stop() before you start it again');
    const member = this.createMember(this.stopping.signal);
    this.running = member;
    const starting = this.join(member);
    this.starting = starting.catch(() => undefined);
    await starting;
  }

  /** Finishes the current transaction and leaves the group. The pool stays open. `start` can follow. */
  async stop(): Promise<void> {
    const { stopping, running: member } = this;
    this.stopping = new AbortController();
    stopping.abort();
    await this.starting;
    await member?.leave();
    await Promise.allSettled(this.retries);
    if (member) this.close(member);
  }

  private async join(member: ConsumerGroupMember): Promise<void> {
    const { kafka, topics, database, schema } = this.options;
    database.on('error', this.logIdleError);
    try {
      await inTransaction(database, (client) => createTables(client, schema));
      await checkTopics(kafka, topics);
      await member.join();
    } catch (error) {
      this.close(member);
      throw error;
    }
  }

  private close(member: ConsumerGroupMember): void {
    if (this.running !== member) return;
    this.running = null;
    this.options.database.off('error', this.logIdleError);
  }

  private createMember(signal: AbortSignal): ConsumerGroupMember {
    const { kafka, database, name, topics, handle, schema, attempts, recordsPerTransaction, logger } = this.options;
    const createPauses = (): RetryPauses => new RetryPauses(logger, signal);
    const records = new RecordTransactions({
      database,
      consumer: name,
      schema,
      handle,
      attempts,
      logger,
      createPauses,
    });
    const reader = new PartitionReader({ kafka, records, createPauses, logger, recordsPerTransaction, signal });
    return new ConsumerGroupMember({
      kafka,
      group: name,
      topics,
      signal,
      pauses: createPauses(),
      onAssigned: (assignment, consumer, isCurrent) => reader.assign(assignment, consumer, isCurrent),
      onBatch: (payload, consumer) => reader.handleBatch(payload, consumer),
    });
  }

  /** Returns the first dead letters of this consumer, in the order of their topics. Needs no `start`. */
  async listDeadLetters({ limit = DEFAULT_LETTERS }: { readonly limit?: number } = {}): Promise<readonly DeadLetter[]> {
    checkPositive({ limit });
    return this.letters.list(limit);
  }

  /**
   * Handles dead letters again, in order, each in a transaction of its own. If one fails, the later ones of its key wait.
   * Returns how many this call handled, and how many are left. Rejects if Postgres is unavailable. Needs no `start`.
   */
  async retryDeadLetters(): Promise<RetryResult> {
    const retrying = this.letters.retryAll(this.stopping.signal);
    this.retries.add(retrying);
    try {
      return await retrying;
    } finally {
      this.retries.delete(retrying);
    }
  }

  /**
   * Removes a dead letter without handling it, for a record that no retry can handle. The next retry handles the records of its
   * key that wait behind it. Returns false if there is no such dead letter. Needs no `start`.
   */
  discardDeadLetter({
    topic,
    partition,
    offset,
  }: Pick<DeadLetter, 'topic' | 'partition' | 'offset'>): Promise<boolean> {
    return this.letters.discard({ topic, partition, offset });
  }

  /** Forgets how far a topic was read, and its dead letters. Call it after the topic was deleted and created again. */
  async resetTopic(topic: string): Promise<void> {
    await this.letters.reset(topic);
  }

  private readonly logIdleError = (error: Error): void => {
    this.options.logger.warn(`an idle connection to Postgres ended: ${describeError(error)}`);
  };
}

const checkPositive = (options: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} must be a whole number from 1 up, got ${value}`);
  }
};

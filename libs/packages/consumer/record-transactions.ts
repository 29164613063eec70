import type { KafkaMessage } from 'kafkajs';
import type { ClientBase, Pool } from 'pg';
import { UnreadableRecordError, type TopicRecord } from './cloud-event.js';
import { ConsumerPositions, formatPartition, type Partition } from './consumer-positions.js';
import { DeadLetters, type TopicOffset } from './dead-letters.js';
import { HandlerFailure, toHandlerFailure } from './handler-failure.js';
import { HandlerCaller, type RecordHandler } from './record-handler.js';
import { describeError, type ConsumerLogger, type RetryPauses } from './retry-pauses.js';
import { inTransaction } from './transactions.js';

export type RecordChunk = Partition & { readonly records: readonly KafkaMessage[] };

/** `interrupted`: the consumer stops, has lost the partition, or must read from another offset. */
export type ChunkOutcome = 'committed' | 'interrupted';

type RecordOptions = {
  readonly database: Pool;
  readonly consumer: string;
  readonly schema: string;
  readonly handle: RecordHandler;
  readonly attempts: number;
  readonly logger: ConsumerLogger;
  readonly createPauses: () => RetryPauses;
};

/** Postgres has a smaller offset than this process has stored: it lost its last commits in a failover. */
class OffsetBehindError extends Error {}

/** Handles the records of partitions in transactions that also store the offsets. */
export class RecordTransactions {
  private readonly letters: DeadLetters;
  private readonly positions: ConsumerPositions;
  private readonly handler: HandlerCaller;
  /** After attempts at records. Only a commit of handled records resets them, because offsets can be read while a record fails. */
  private readonly recordPauses: RetryPauses;
  /** After attempts to read offsets. */
  private readonly offsetPauses: RetryPauses;

  constructor(private readonly options: RecordOptions) {
    this.letters = new DeadLetters(options.consumer, options.schema);
    this.positions = new ConsumerPositions(options.consumer, options.schema);
    this.handler = new HandlerCaller(options.handle, this.positions, options.logger);
    this.recordPauses = options.createPauses();
    this.offsetPauses = options.createPauses();
  }

  /** Returns the offset at which the partition continues, 0 at first. Null if `canContinue` ends before Postgres answers. */
  async loadOffset(partition: Partition, canContinue: () => boolean): Promise<bigint | null> {
    return this.read((client) => this.positions.lock(client, partition), canContinue);
  }

  /** Returns the stored offsets of topics, by `TOPIC/PARTITION`. Null if `canContinue` ends before Postgres answers. */
  async loadOffsets(
    topics: readonly string[],
    canContinue: () => boolean,
  ): Promise<ReadonlyMap<string, bigint> | null> {
    return this.read((client) => this.positions.load(client, topics), canContinue);
  }

  /**
   * Handles the records of a chunk, and stores the offset after it. `expected` is where the chunk begins for this process: if
   * Postgres is behind it, as after a failover, the outcome is `interrupted`.
   */
  async handleChunk(chunk: RecordChunk, expected: bigint, canContinue: () => boolean): Promise<ChunkOutcome> {
    const outcome = await this.attemptRecords((client) => this.handleRecords(client, chunk, expected), canContinue);
    if (!(outcome instanceof HandlerFailure)) return outcome;
    if (chunk.records.length === 1) return this.handleFailing(chunk, { expected, failure: outcome }, canContinue);
    // One by one, so that the record that fails does not hold up the others.
    for (const [n, record] of chunk.records.entries()) {
      const before = n === 0 ? expected : BigInt(chunk.records[n - 1]?.offset ?? 0) + 1n;
      const one = await this.handleChunk({ ...chunk, records: [record] }, before, canContinue);
      if (one === 'interrupted') return one;
    }
    return 'committed';
  }

  /** Tries the only record of a chunk again, and then stores it as a dead letter. */
  private async handleFailing(
    chunk: RecordChunk,
    { expected, failure }: { readonly expected: bigint; readonly failure: HandlerFailure },
    canContinue: () => boolean,
  ): Promise<ChunkOutcome> {
    let last = failure;
    for (let done = 1; done < this.options.attempts && !(last.cause instanceof UnreadableRecordError); done += 1) {
      await this.recordPauses.failed(`${describeOffset(toOffset(chunk))} failed: ${last.message}`);
      const outcome = await this.attemptRecords((client) => this.handleRecords(client, chunk, expected), canContinue);
      if (!(outcome instanceof HandlerFailure)) return outcome;
      last = outcome;
    }
    const storing = { expected, failure: last };
    const outcome = await this.attemptRecords((client) => this.storeDeadLetter(client, chunk, storing), canContinue);
    if (outcome instanceof HandlerFailure) throw outcome;
    return outcome;
  }

  /** Returns what Postgres returns. Null if `canContinue` ends before. */
  private async read<T>(query: (client: ClientBase) => Promise<T>, canContinue: () => boolean): Promise<T | null> {
    let result: T | null = null;
    const work = async (client: ClientBase): Promise<void> => {
      result = await query(client);
    };
    const outcome = await this.attempt(work, this.offsetPauses, canContinue);
    return outcome === 'committed' ? result : null;
  }

  private attemptRecords(
    work: (client: ClientBase) => Promise<void>,
    canContinue: () => boolean,
  ): Promise<ChunkOutcome | HandlerFailure> {
    return this.attempt(work, this.recordPauses, canContinue);
  }

  /** Runs work in a transaction, again and again while Postgres is unavailable. Returns the failure of a handler. */
  private async attempt(
    work: (client: ClientBase) => Promise<void>,
    pauses: RetryPauses,
    canContinue: () => boolean,
  ): Promise<ChunkOutcome | HandlerFailure> {
    const { database } = this.options;
    while (canContinue()) {
      try {
        await inTransaction(database, work);
        pauses.succeeded();
        return 'committed';
      } catch (error) {
        if (error instanceof OffsetBehindError) return 'interrupted';
        const failure = toHandlerFailure(error);
        if (failure !== null) return failure;
        await pauses.failed(`Postgres did not commit, next attempt follows: ${describeError(error)}`);
      }
    }
    return 'interrupted';
  }

  /** Returns the offset at which the partition continues. Throws OffsetBehindError if it is before the expected one. */
  private async lock(client: ClientBase, { topic, partition }: RecordChunk, expected: bigint): Promise<bigint> {
    const next = await this.positions.lock(client, { topic, partition });
    if (next < expected) throw new OffsetBehindError();
    return next;
  }

  private async handleRecords(client: ClientBase, chunk: RecordChunk, expected: bigint): Promise<void> {
    const { topic, partition, records } = chunk;
    const next = await this.lock(client, chunk, expected);
    const fresh = records.filter(({ offset }) => BigInt(offset) >= next);
    const last = fresh.at(-1);
    if (last === undefined) return;
    const waiting = await this.letters.selectKeys(client, topic, fresh);
    for (const record of fresh) {
      const location = { topic, partition, offset: BigInt(record.offset) };
      const waits = record.key !== null && waiting.has(record.key.toString('hex'));
      await (waits ? this.letters.addWaiting(client, record, location) : this.handle(client, topic, record));
    }
    await this.positions.store(client, { topic, partition }, BigInt(last.offset) + 1n);
  }

  private handle(client: ClientBase, topic: string, record: TopicRecord): Promise<void> {
    return this.handler.call({ client, topic, record });
  }

  private async storeDeadLetter(
    client: ClientBase,
    chunk: RecordChunk,
    { expected, failure }: { readonly expected: bigint; readonly failure: HandlerFailure },
  ): Promise<void> {
    const { topic, partition, records } = chunk;
    const [record] = records;
    const next = await this.lock(client, chunk, expected);
    if (record === undefined || BigInt(record.offset) < next) return;
    const location = toOffset(chunk);
    await this.letters.add(client, record, location, failure.message);
    await this.positions.store(client, { topic, partition }, location.offset + 1n);
    this.options.logger.warn(`${describeOffset(location)} is a dead letter: ${failure.message}`);
  }
}

const toOffset = ({ topic, partition, records }: RecordChunk): TopicOffset => ({
  topic,
  partition,
  offset: BigInt(records[0]?.offset ?? 0),
});

export const describeOffset = (location: TopicOffset): string =>
  `record ${location.offset} of ${formatPartition(location)}`;

import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { RecordTransactions } from './record-transactions.js';
import { describeError, type ConsumerLogger, type RetryPauses } from './retry-pauses.js';
import { readFirstOffsets } from './topic-admin.js';
import { formatPartition, type Partition } from './consumer-positions.js';

export type ReaderOptions = {
  readonly kafka: Kafka;
  readonly records: RecordTransactions;
  readonly createPauses: () => RetryPauses;
  readonly logger: ConsumerLogger;
  readonly recordsPerTransaction: number;
  readonly signal: AbortSignal;
};

/** The partitions of a member of a group, by topic. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

type Batch = EachBatchPayload['batch'];

const HEARTBEAT_MS = 1_000;

/** Reads the partitions that a group assigns to this process, each from its offset in Postgres. */
export class PartitionReader {
  /** Where each partition continues, as far as this process knows since the last assignment. */
  private readonly next = new Map<string, bigint>();

  private readonly warnedOffsets = new Map<string, bigint>();

  /** The pauses of partitions that end before their offset in Postgres, until a batch reaches the offset. */
  private readonly endPauses = new Map<string, RetryPauses>();

  constructor(private readonly options: ReaderOptions) {}

  /**
   * Seeks each assigned partition to its offset in Postgres. Comparing the first batch is not enough: a partition that the
   * group has read to its end gets no batch. `isCurrent` is false after the next assignment.
   */
  async assign(assignment: Assignment, consumer: Consumer, isCurrent: () => boolean): Promise<void> {
    this.next.clear();
    const partitions = Object.entries(assignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    const stored = await this.options.records.loadOffsets(Object.keys(assignment), isCurrent);
    if (stored === null || !isCurrent()) return;
    for (const each of partitions) {
      const key = formatPartition(each);
      // A batch that arrived in the meantime has been compared with Postgres.
      if (!this.next.has(key)) consumer.seek({ ...each, offset: (stored.get(key) ?? 0n).toString() });
    }
    await this.warnAboutDeletedRecords(Object.keys(assignment), stored);
  }

  /** Warns once about each stored offset that is before the first record of its partition. */
  private async warnAboutDeletedRecords(topics: readonly string[], stored: ReadonlyMap<string, bigint>): Promise<void> {
    const { kafka, logger, signal } = this.options;
    try {
      for (const [key, first] of await readFirstOffsets(kafka, topics)) {
        const next = stored.get(key) ?? 0n;
        // The end of a transaction takes an offset too, and is behind the last record.
        if (next === 0n || first <= next + 1n || this.warnedOffsets.get(key) === next) continue;
        this.warnedOffsets.set(key, next);
        logger.warn(
          `${key} begins at ${first}, and this consumer has read up to ${next}: Kafka has deleted records that it has not handled`,
        );
      }
    } catch (error) {
      if (!signal.aborted) logger.warn(`could not read the first offsets of the topics: ${describeError(error)}`);
    }
  }

  /** Handles a batch. Returns early if the partition is lost, or must be read from another offset. */
  async handleBatch(payload: EachBatchPayload, consumer: Consumer): Promise<void> {
    const { batch } = payload;
    let heartbeatError: Error | null = null;
    // Heartbeats continue while a handler waits, so that the group leaves the partition to this member.
    const beat = (): void => void payload.heartbeat().catch((error: Error) => (heartbeatError = error));
    const heartbeatTimer = setInterval(beat, HEARTBEAT_MS);
    const canContinue = (): boolean => {
      if (heartbeatError) throw heartbeatError;
      return payload.isRunning() && !payload.isStale() && !this.options.signal.aborted;
    };
    try {
      if (!(await this.isAtStoredOffset(batch, consumer, canContinue))) return;
      await this.handleChunks(payload, consumer, canContinue);
    } finally {
      clearInterval(heartbeatTimer);
    }
  }

  /** Seeks to the offset in Postgres if the first batch of a partition begins after it. Returns false if it did. */
  private async isAtStoredOffset(batch: Batch, consumer: Consumer, canContinue: () => boolean): Promise<boolean> {
    const { topic, partition, highWatermark } = batch;
    const key = formatPartition(batch);
    const first = batch.messages[0]?.offset;
    if (first === undefined || this.next.has(key)) return true;
    const stored = await this.options.records.loadOffset({ topic, partition }, canContinue);
    if (stored === null) return false;
    if (stored > BigInt(highWatermark)) {
      await this.pauseAfterEnd(key, highWatermark, stored);
      return false;
    }
    this.endPauses.delete(key);
    this.next.set(key, stored);
    if (BigInt(first) <= stored) return true;
    consumer.seek({ topic, partition, offset: stored.toString() });
    return false;
  }

  private async pauseAfterEnd(key: string, highWatermark: string, stored: bigint): Promise<void> {
    const pauses = this.endPauses.get(key) ?? this.options.createPauses();
    this.endPauses.set(key, pauses);
    await pauses.failed(
      `${key} ends at ${highWatermark}, and this consumer has read up to ${stored}. ` +
        'If the topic was deleted and created again, stop the consumer, call resetTopic() and start it again',
    );
  }

  private async handleChunks(payload: EachBatchPayload, consumer: Consumer, canContinue: () => boolean): Promise<void> {
    const { topic, partition, messages } = payload.batch;
    const { records: transactions, recordsPerTransaction } = this.options;
    const key = formatPartition({ topic, partition });
    for (const records of splitIntoChunks(messages, recordsPerTransaction)) {
      const last = records.at(-1)?.offset ?? '';
      const outcome = await transactions.handleChunk(
        { topic, partition, records },
        this.next.get(key) ?? 0n,
        canContinue,
      );
      if (outcome === 'interrupted') {
        // Postgres may have lost its last commits in a failover. The next batch compares again.
        if (this.next.delete(key) && canContinue())
          await this.seekStoredOffset({ topic, partition }, consumer, canContinue);
        return;
      }
      this.next.set(key, BigInt(last) + 1n);
      payload.resolveOffset(last);
      // Only for tools that show the lag of the group. The consumer continues at the offset in Postgres.
      await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
    }
  }

  private async seekStoredOffset(partition: Partition, consumer: Consumer, canContinue: () => boolean): Promise<void> {
    const stored = await this.options.records.loadOffset(partition, canContinue);
    if (stored !== null) consumer.seek({ ...partition, offset: stored.toString() });
  }
}

const splitIntoChunks = <R>(records: readonly R[], size: number): readonly (readonly R[])[] =>
  Array.from({ length: Math.ceil(records.length / size) }, (_, n) => records.slice(n * size, (n + 1) * size));

import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from '#platform/kernel';
import { createKafkaClient, type KafkaConnection } from '../connection/kafka-connection.js';
import { fetchTailOffsets, hasTopic, type OffsetRange } from '../topics/topics.admin.js';
import { splitIntoChunks, type ConsumedMessage } from './topic-consumer.js';

export type TailMessage = Pick<ConsumedMessage, 'value'> & { readonly key: Buffer | null };

type TailRequest = {
  /** Messages of this time and later are read; all if it is null. */
  readonly since: Date | null;
  /** How many messages of each partition are read at least, because clocks go back. */
  readonly atLeast: number;
  readonly handle: (messages: readonly TailMessage[]) => Promise<void>;
  readonly signal: AbortSignal;
};

/** The group has one member, so a lost one delays nothing. */
const SESSION_MS = 10_000;
const FETCH_MS = 200;

/**
 * Reads what a topic contains at present, and commits no offset. Another call after a failure continues where the reading
 * ended; after a success it begins again.
 */
export class TopicTail {
  private readonly kafka: Kafka;
  /** The next offsets of partitions that were read in part. */
  private next = new Map<number, bigint>();

  constructor(
    connection: KafkaConnection,
    private readonly topic: string,
    logger: Logger,
  ) {
    this.kafka = createKafkaClient(connection, logger);
  }

  /** Rejects if the brokers do not answer or the signal aborts. Does nothing if the topic does not exist. */
  async read({ since, atLeast, handle, signal }: TailRequest): Promise<void> {
    if (!(await untilAborted(hasTopic(this.kafka, this.topic), signal))) return;
    const ranges = await untilAborted(fetchTailOffsets(this.kafka, this.topic, since, atLeast), signal);
    const left = new Map(ranges.map(({ partition, ...range }) => [partition, this.continueAt(partition, range)]));
    for (const [partition, { from, end }] of left) if (from >= end) left.delete(partition);
    const partitions = ranges.map(({ partition }) => partition);
    if (left.size > 0) await this.readRanges(left, partitions, { handle, signal });
    this.next.clear();
  }

  private continueAt(partition: number, { from, end }: OffsetRange): OffsetRange {
    const next = this.next.get(partition) ?? from;
    return { from: next > from && next <= end ? next : from, end };
  }

  private async readRanges(
    left: Map<number, OffsetRange>,
    partitions: readonly number[],
    { handle, signal }: Pick<TailRequest, 'handle' | 'signal'>,
  ): Promise<void> {
    const consumer = this.createConsumer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // The consumer may crash before anything awaits the promise.
    promise.catch(() => undefined);
    const finishAt = (partition: number, last: string): void => {
      const range = left.get(partition);
      if (!range || BigInt(last) + 1n < range.end) return;
      left.delete(partition);
      consumer.pause([{ topic: this.topic, partitions: [partition] }]);
      if (left.size === 0) resolve();
    };
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => reject(error));
    consumer.on(consumer.events.GROUP_JOIN, () => this.seekAll(consumer, left, partitions));
    // kafkajs calls no handler for batches that contain only aborted messages or markers of transactions.
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, batchSize, lastOffset } }) => {
      if (batchSize === 0) finishAt(partition, lastOffset);
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [this.topic], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatch: async (payload) => {
          const range = left.get(payload.batch.partition);
          if (!range || payload.isStale()) return;
          await this.takeBatch(payload, range, handle);
          // Markers of transactions have offsets too, and are no messages.
          finishAt(payload.batch.partition, payload.batch.lastOffset());
        },
      });
      await untilAborted(promise, signal);
    } finally {
      await consumer.disconnect().catch(() => undefined);
    }
  }

  private createConsumer(): Consumer {
    return this.kafka.consumer({
      // Of its own, so that the group assigns it all partitions also while a killed process still seems to read.
      groupId: `${this.topic.replaceAll('.', '-')}-tail-${randomUUID()}`,
      sessionTimeout: SESSION_MS,
      maxWaitTimeInMs: FETCH_MS,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: () => Promise.resolve(false) },
    });
  }

  /** Without a pause, partitions of which nothing is left would be read from their first message. */
  private seekAll(consumer: Consumer, left: ReadonlyMap<number, OffsetRange>, partitions: readonly number[]): void {
    const finished = partitions.filter((partition) => !left.has(partition));
    if (finished.length > 0) consumer.pause([{ topic: this.topic, partitions: finished }]);
    for (const [partition, { from }] of left) {
      const offset = (this.next.get(partition) ?? from).toString();
      consumer.seek({ topic: this.topic, partition, offset });
    }
  }

  private async takeBatch(
    payload: EachBatchPayload,
    { from, end }: OffsetRange,
    handle: TailRequest['handle'],
  ): Promise<void> {
    const { batch } = payload;
    const messages = batch.messages.filter(({ offset }) => BigInt(offset) >= from && BigInt(offset) < end);
    for (const chunk of splitIntoChunks(messages)) {
      await handle(chunk);
      await payload.heartbeat();
      this.next.set(batch.partition, BigInt(chunk.at(-1)?.offset ?? from) + 1n);
    }
  }
}

/** Rejects when the signal aborts. The work itself continues. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
};

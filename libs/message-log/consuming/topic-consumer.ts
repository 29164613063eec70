import { setTimeout as wait } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { Backoff, type Logger } from '#kernel';
import { createKafkaClient, type KafkaConnection } from '../connection/kafka-connection.js';
import { consumerMetrics } from '../message-log.metrics.js';
import { openProducer, type OpenProducer } from '../publishing/producer.js';
import { isTooLarge, buildRejection, type RejectionMessages } from './rejections.js';
import { ensureTopics } from '../connection/topics.js';

export type MessageResult = { readonly result: string } | { readonly rejected: string };

export type ConsumedMessage = Pick<KafkaMessage, 'value' | 'headers' | 'timestamp'>;

/**
 * Resolves to a verdict for each message, in their order, once all that they mean is committed. Throws where nothing is
 * known of them yet; then the same messages come again, after a pause. A message may come twice at any time.
 */
export type MessageHandler = (messages: readonly ConsumedMessage[]) => Promise<readonly MessageResult[]>;

const MAX_MESSAGES_PER_CHUNK = 1_000;
const MAX_BYTES_PER_CHUNK = 4 * 1_024 * 1_024;

// A consumer that was killed is replaced after the session is over; with kafkajs' 30 s its messages would lie that long.
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 1_000;
/** How long a fetch that finds nothing may hold up a stop. */
const FETCH_MS = 500;

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

/**
 * Reads a topic that others write to, as one of a consumer group: at least once, and an offset is committed only after
 * what its messages mean. Nothing is skipped, and nothing blocks but an outage: what the taker rejects goes to
 * `<topic>.rejected` with the reason and where it stood, whole or what that topic takes of it.
 *
 *   connecting ──► reading ──batch──► taken ──► rejected ones sent ──► offset committed ──► reading …
 *       ▲              │ brokers away, or the group has taken our partitions to somebody else
 *       └──pause───────┘
 */
export class TopicConsumer {
  private readonly kafka: Kafka;
  private readonly rejectedTopic: string;
  private readonly stopping = new AbortController();
  private producer: OpenProducer | null = null;
  private readonly backoff: Backoff;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    connection: KafkaConnection,
    private readonly topic: string,
    private readonly take: MessageHandler,
    private readonly logger: Logger,
  ) {
    this.kafka = createKafkaClient(connection, logger);
    this.rejectedTopic = `${topic}.rejected`;
    const pauses = { firstMs: RETRY_FIRST_MS, maxMs: RETRY_MAX_MS };
    this.backoff = new Backoff({ logger, subject: 'topic consumer', fields: { topic }, ...pauses });
  }

  start(): void {
    this.loop = this.consumeUntilStopped();
  }

  /** Resolves when the messages in hand are done with, and the group knows that we have left. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async consumeUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.read();
      } catch (error) {
        await this.failed(error);
      }
    }
    await this.closeProducer();
  }

  /** Resolves when it is to stop. */
  private async read(): Promise<void> {
    await ensureTopics(this.kafka, [this.topic, this.rejectedTopic], this.logger, 'inbox');
    const consumer = this.kafka.consumer({
      // Named after the topic, whose prefix is the site's: two sites on one cluster do not share a group.
      groupId: this.topic.replaceAll('.', '-'),
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_MS,
      allowAutoTopicCreation: false,
      // kafkajs gives up for good after an error that it does not know: whether it goes on is decided here alone.
      retry: { restartOnFailure: () => Promise.resolve(false) },
    });
    const reading = new AbortController();
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [this.topic], fromBeginning: true });
      const ended = this.endOf(consumer, reading.signal);
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: (payload) => this.takeBatch(payload),
      });
      await ended;
    } finally {
      reading.abort();
      // Waits for the batch in hand. Where the brokers are away there is nobody to take leave of.
      await consumer.disconnect().catch(() => undefined);
    }
  }

  /** Resolves when it is to stop, rejects when the consumer has given up; listens while it reads. */
  private endOf(consumer: Consumer, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => reject(error));
    // A topic without messages has recovered when the group gives out its partitions.
    consumer.on(consumer.events.GROUP_JOIN, () => this.backoff.succeeded());
    this.stopping.signal.addEventListener('abort', () => resolve(), { signal });
    if (this.stopping.signal.aborted) resolve();
    // It may crash while `run` is still on its way.
    promise.catch(() => undefined);
    return promise;
  }

  private async takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    let lost: Error | null = null;
    // While a database is waited for the group must not think us dead; if it does, others have the partition.
    const beat = setInterval(() => void payload.heartbeat().catch((error: Error) => (lost = error)), HEARTBEAT_MS);
    const isOurs = (): boolean => {
      if (lost) throw lost;
      return payload.isRunning() && !payload.isStale() && !this.stopping.signal.aborted;
    };
    try {
      for (const messages of splitIntoChunks(batch.messages)) {
        if (!isOurs()) return;
        const verdicts = await this.untilDone(() => this.take(messages), isOurs);
        if (!verdicts) return;
        const rejected = this.rejectionsAmong(messages, verdicts, batch);
        if ((await this.untilDone(() => this.reject(rejected), isOurs)) === null) return;
        payload.resolveOffset(messages.at(-1)?.offset ?? '');
        await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
        this.count(batch, messages, verdicts);
      }
    } finally {
      clearInterval(beat);
    }
  }

  /** Again until it succeeds; null where it does not, and the messages are not ours any more, or it is to stop. */
  private async untilDone<T>(work: () => Promise<T>, isOurs: () => boolean): Promise<T | null> {
    do {
      try {
        const done = await work();
        this.backoff.succeeded();
        return done;
      } catch (error) {
        await this.failed(error);
      }
    } while (isOurs());
    return null;
  }

  private async failed(error: unknown): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    consumerMetrics.failures.inc({ topic: this.topic });
    await wait(this.backoff.failed(error), undefined, { signal }).catch(() => undefined);
  }

  private rejectionsAmong(
    messages: readonly KafkaMessage[],
    all: readonly MessageResult[],
    { topic, partition }: KafkaBatch,
  ): RejectionMessages[] {
    return messages.flatMap((message, n) => {
      const verdict = all[n];
      if (!verdict || !('rejected' in verdict)) return [];
      const place = { topic, partition, offset: message.offset };
      return [buildRejection(message, verdict.rejected, place, this.rejectedTopic)];
    });
  }

  /** Sent again after a failure they may be there twice, under the same offset. */
  private async reject(rejections: readonly RejectionMessages[]): Promise<true> {
    // Each by itself: a thousand of them may be more than a broker takes at once, and they are few.
    for (const rejection of rejections) await this.sendFirstThatFits(rejection);
    return true;
  }

  /** How much a topic takes only its broker knows. */
  private async sendFirstThatFits([message, ...smaller]: RejectionMessages): Promise<void> {
    this.producer ??= await openProducer(this.kafka);
    try {
      await this.producer.send([message]);
    } catch (error) {
      await this.closeProducer();
      const [next, ...rest] = smaller;
      if (!next || !isTooLarge(error)) throw error;
      await this.sendFirstThatFits([next, ...rest]);
    }
  }

  private async closeProducer(): Promise<void> {
    const producer = this.producer;
    this.producer = null;
    await producer?.close().catch(() => undefined);
  }

  private count(
    { partition, highWatermark }: KafkaBatch,
    messages: readonly KafkaMessage[],
    all: readonly MessageResult[],
  ): void {
    const { topic } = this;
    for (const verdict of all) {
      consumerMetrics.messages.inc({ topic, result: 'rejected' in verdict ? 'rejected' : verdict.result });
    }
    const behind = BigInt(highWatermark) - 1n - BigInt(messages.at(-1)?.offset ?? highWatermark);
    consumerMetrics.lag.set({ topic, partition }, Number(behind));
    const reasons = all.flatMap((verdict) => ('rejected' in verdict ? [verdict.rejected] : []));
    const [reason] = reasons;
    if (reason !== undefined)
      this.logger.warn({ topic, partition, count: reasons.length, reason }, 'messages rejected');
  }
}

type KafkaBatch = EachBatchPayload['batch'];

/** In their order; none is so many, or so much, that it takes long. */
export const splitIntoChunks = <M extends Pick<KafkaMessage, 'value'>>(messages: readonly M[]): M[][] => {
  const chunks: M[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value?.length ?? 0;
    const last = chunks.at(-1);
    bytes += size;
    if (last && last.length < MAX_MESSAGES_PER_CHUNK && bytes <= MAX_BYTES_PER_CHUNK) last.push(message);
    else {
      chunks.push([message]);
      bytes = size;
    }
  }
  return chunks;
};

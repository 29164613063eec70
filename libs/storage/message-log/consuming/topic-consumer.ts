import { setTimeout as wait } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { Backoff, type Logger } from '#platform/kernel';
import { createKafkaClient, type KafkaConnection } from '../connection/kafka-connection.js';
import { consumerMetrics } from '../message-log.metrics.js';
import { openProducer, type OpenProducer } from '../publishing/producer.js';
import { GroupLag } from './group-lag.js';
import { traceMessages } from './message-spans.js';
import { isTooLarge, buildRejection, type RejectionMessages } from './rejections.js';
import type { TopicSettings } from '../topics/topic-definition.js';
import { ensureTopics } from '../topics/topics.admin.js';

/** `settings`: for the topic and the one of its rejected messages, if they do not exist. */
type ConsumedTopic = { readonly name: string; readonly settings: TopicSettings };

export type MessageResult = { readonly result: string } | { readonly rejected: string };

export type ConsumedMessage = Pick<KafkaMessage, 'value' | 'headers' | 'timestamp'> & {
  /** The span of the message. Absent if its trace is not recorded. */
  readonly traceparent?: string;
};

/**
 * Resolves to a result for each message, in order, after everything is committed. Throws if the results are unknown;
 * the same messages are then passed again after a pause. A message may be passed twice at any time.
 */
export type MessageHandler = (messages: readonly ConsumedMessage[]) => Promise<readonly MessageResult[]>;

const MAX_MESSAGES_PER_CHUNK = 1_000;
const MAX_BYTES_PER_CHUNK = 4 * 1_024 * 1_024;

// The group replaces a killed consumer after this time. With kafkajs' default of 30 s, its messages would wait that
// long.
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 1_000;
/** Limits how long a fetch without messages can delay a stop. */
const FETCH_MS = 500;

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;
/** A member that has read for this long has no fault that returns at each start, such as a message that it cannot decompress. */
const STABLE_MS = 10_000;

/**
 * Consumes a topic of other services as a member of a consumer group: at least once. An offset is committed only after
 * the results of its messages are committed. No message is skipped, and only an outage blocks. A message that the
 * handler rejects is sent to `<topic>.rejected` with the reason and its location, complete or reduced to what that
 * topic accepts.
 *
 *   connecting ──► reading ──batch──► handled ──► rejections sent ──► offset committed ──► reading …
 *       ▲             │ the brokers are down, or the group has assigned the partitions to another consumer
 *       └────pause────┘
 */
export class TopicConsumer {
  private readonly kafka: Kafka;
  private readonly topic: string;
  private readonly topicSettings: TopicSettings;
  private readonly rejectedTopic: string;
  private readonly group: string;
  private readonly lag: GroupLag;
  private readonly stopping = new AbortController();
  private producer: OpenProducer | null = null;
  /** Number of batches that are being handled. */
  private handling = 0;
  private readonly backoff: Backoff;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    connection: KafkaConnection,
    { name: topic, settings }: ConsumedTopic,
    private readonly take: MessageHandler,
    private readonly logger: Logger,
  ) {
    this.kafka = createKafkaClient(connection, logger);
    this.topic = topic;
    this.topicSettings = settings;
    this.rejectedTopic = `${topic}.rejected`;
    // Named after the topic, which has the site's prefix, so that two sites on one cluster do not share a group.
    this.group = topic.replaceAll('.', '-');
    this.lag = new GroupLag(this.kafka, this.group, topic, logger);
    const pauses = { firstMs: RETRY_FIRST_MS, maxMs: RETRY_MAX_MS, stableMs: STABLE_MS };
    this.backoff = new Backoff({ logger, subject: 'topic consumer', fields: { topic }, ...pauses });
  }

  start(): void {
    this.loop = this.consumeUntilStopped();
  }

  /** Resolves when the current messages are finished and the consumer has left the group. */
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

  /** Resolves after an abort. */
  private async read(): Promise<void> {
    const topics = [this.topic, this.rejectedTopic].map((name) => ({ name, use: 'inbound' as const }));
    await ensureTopics(this.kafka, topics, this.topicSettings, this.logger);
    const consumer = this.kafka.consumer({
      groupId: this.group,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_MS,
      allowAutoTopicCreation: false,
      // kafkajs gives up after an unknown error. Only the loop in this class decides whether to restart.
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
      // Waits for the current batch. If the brokers are down, the consumer cannot leave the group.
      await consumer.disconnect().catch(() => undefined);
      await this.lag.settled();
    }
  }

  /** Resolves after an abort, rejects when the consumer has crashed. `signal` ends the subscription. */
  private endOf(consumer: Consumer, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => reject(error));
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
      this.lag.assign(payload.memberAssignment[this.topic] ?? []),
    );
    // Proves the recovery of a consumer without messages. A fetch proves nothing: kafkajs also reports fetches that have
    // failed, and pauses of a broker that leads none of the partitions.
    const stable = setTimeout(() => {
      if (this.handling === 0) this.backoff.succeeded();
    }, STABLE_MS);
    signal.addEventListener('abort', () => clearTimeout(stable));
    this.stopping.signal.addEventListener('abort', () => resolve(), { signal });
    if (this.stopping.signal.aborted) resolve();
    // The consumer may crash before `run` resolves.
    promise.catch(() => undefined);
    return promise;
  }

  private async takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    let lost: Error | null = null;
    // Heartbeats continue while the handler waits for a database, so that the group does not assign the partition to
    // another consumer.
    this.handling += 1;
    const beat = setInterval(() => void payload.heartbeat().catch((error: Error) => (lost = error)), HEARTBEAT_MS);
    const isOurs = (): boolean => {
      if (lost) throw lost;
      return payload.isRunning() && !payload.isStale() && !this.stopping.signal.aborted;
    };
    try {
      for (const messages of splitIntoChunks(batch.messages)) {
        if (!isOurs()) return;
        const results = await this.untilDone(() => traceMessages(this.topic, messages, this.take), isOurs);
        if (!results) return;
        const rejected = this.rejectionsAmong(messages, results, batch);
        if ((await this.untilDone(() => this.reject(rejected), isOurs)) === null) return;
        payload.resolveOffset(messages.at(-1)?.offset ?? '');
        await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
        this.count(batch, messages, results);
      }
    } finally {
      this.handling -= 1;
      clearInterval(beat);
    }
  }

  /** Retries until the work succeeds. Returns null if the partition is lost or after an abort. */
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
      const result = all[n];
      if (!result || !('rejected' in result)) return [];
      const location = { topic, partition, offset: message.offset };
      return [buildRejection(message, result.rejected, location, this.rejectedTopic)];
    });
  }

  /**
   * Sends the rejected messages. If this is retried after a failure, the topic may contain some twice, with the same
   * offset.
   */
  private async reject(rejections: readonly RejectionMessages[]): Promise<true> {
    // One request each: a thousand rejections may be too large for one request, and rejections are rare.
    for (const rejection of rejections) await this.sendFirstThatFits(rejection);
    return true;
  }

  /** Tries the forms in order, because only the broker knows the size limit of a topic. */
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
    for (const result of all) {
      consumerMetrics.messages.inc({ topic, result: 'rejected' in result ? 'rejected' : result.result });
    }
    const behind = BigInt(highWatermark) - 1n - BigInt(messages.at(-1)?.offset ?? highWatermark);
    this.lag.handled(partition, Number(behind));
    const reasons = all.flatMap((result) => ('rejected' in result ? [result.rejected] : []));
    const [reason] = reasons;
    if (reason !== undefined)
      this.logger.warn({ topic, partition, count: reasons.length, reason }, 'messages rejected');
  }
}

type KafkaBatch = EachBatchPayload['batch'];

/** Splits messages into chunks, in order, each limited in number and size. */
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

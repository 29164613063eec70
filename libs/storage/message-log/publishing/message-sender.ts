import { getErrorMessage, type Logger } from '#platform/kernel';
import type { Kafka } from 'kafkajs';
import type { OutboundMessage } from '../topics/cloud-event.js';
import { createKafkaClient, type KafkaConnection } from '../connection/kafka-connection.js';
import { openFencedProducer, openProducer, type OpenProducer } from './producer.js';
import type { TopicSettings } from '../topics/topic-definition.js';
import { senderMetrics } from '../message-log.metrics.js';
import { ensureTopics, listUnwrittenTopics, type NamedTopic } from '../topics/topics.admin.js';

/** Rejects unless this process leads at the time of the call. */
export type LeadershipCheck = () => Promise<void>;

const NO_CHECK: LeadershipCheck = () => Promise.resolve();

/**
 * Sends messages to Kafka in order, at least once. A follower's advisory lock ensures that one process leads. A process
 * that stopped for a while may believe that it still leads, so brokers refuse messages of a sender with a `fencingId`
 * after another process has opened a sender with the same id.
 *
 * The producer is absent → opening → open → absent …: the next `send` opens it, and **a producer is
 * never used after a failure**. After a failure it is unknown which partitions accepted the batch, while kafkajs resets
 * the sequence numbers of all of them. Sending the same batch again would be harmless, but a follower reads its batch
 * again from the log, and it may be longer by then. The broker would answer every later request with "out of order
 * sequence number". A new producer has a new epoch and new sequence numbers. If the broker had already committed the
 * messages, they are then in the topic twice, with the same `ce_id`.
 */
export class MessageSender {
  private readonly kafka: Kafka;
  private producer: Promise<OpenProducer> | null = null;
  private underway: Promise<void> | null = null;
  private closed = false;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly logger: Logger,
    /** The same for all processes of which only one may send; null if several may. */
    private readonly fencingId: string | null,
  ) {
    this.kafka = createKafkaClient(connection, logger);
  }

  /** Creates missing topics. */
  ensureTopics(topics: readonly NamedTopic[], settings: TopicSettings): Promise<void> {
    return ensureTopics(this.kafka, topics, settings, this.logger);
  }

  /** Returns those of these existing topics that never had a message. */
  listUnwrittenTopics(topics: readonly string[]): Promise<readonly string[]> {
    return listUnwrittenTopics(this.kafka, topics);
  }

  /**
   * Resolves when all in-sync replicas have acknowledged every message. If it rejects, it is unknown whether the messages
   * were sent, and the caller must send all of them again. `requireLeadership` is called after other processes have been
   * fenced, and before the first message.
   */
  async send(messages: readonly OutboundMessage[], requireLeadership: LeadershipCheck = NO_CHECK): Promise<void> {
    if (this.closed) throw new Error('the connection to Kafka was closed');
    if (this.underway) throw new Error('send was called before the last call was settled: order would be lost');
    this.underway = this.sendInOrder(messages, requireLeadership);
    try {
      await this.underway;
    } finally {
      this.underway = null;
    }
  }

  /** Resolves when the last `send` is settled and the open producer is closed. A failed one closes in the background. */
  async disconnect(): Promise<void> {
    this.closed = true;
    // Without this wait, a retry of kafkajs would connect again and keep the process alive. The caller of `send`
    // gets the error.
    await this.underway?.catch(() => undefined);
    const producer = this.producer;
    this.producer = null;
    // If the producer could not be opened, its caller got the error, and there is nothing to close.
    await producer?.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  private async sendInOrder(messages: readonly OutboundMessage[], requireLeadership: LeadershipCheck): Promise<void> {
    const endTimer = senderMetrics.seconds.startTimer({ client: this.connection.clientId });
    try {
      const producer = await this.open(requireLeadership);
      await producer.send(messages);
      for (const [topic, { length }] of Map.groupBy(messages, ({ topic }) => topic))
        senderMetrics.messages.inc({ topic }, length);
      endTimer({ result: 'sent' });
    } catch (error) {
      this.abandon();
      endTimer({ result: 'failed' });
      throw new Error(`Kafka did not accept the events: ${getErrorMessage(error)}`, { cause: error });
    }
  }

  private open(requireLeadership: LeadershipCheck): Promise<OpenProducer> {
    this.producer ??=
      this.fencingId === null
        ? openProducer(this.kafka)
        : openFencedProducer(this.kafka, this.fencingId, requireLeadership);
    return this.producer;
  }

  /**
   * Closes the failed producer in the background, because it waits for requests that a hung broker may never answer.
   */
  private abandon(): void {
    const failed = this.producer;
    this.producer = null;
    failed
      ?.then((open) => open.close())
      .catch((error: unknown) => this.logger.debug({ err: error }, 'a failed Kafka producer was given up'));
  }
}

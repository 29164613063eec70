import type { EventRegistry, Logger, RecordedEvent } from '#kernel';
import { openSpan } from '#tracing';
import type { Kafka } from 'kafkajs';
import { splitIntoRequests } from './request-batches.js';
import { toKafkaMessage, type OutboundMessage, type CloudEventSource } from './cloud-event.js';
import { createKafkaClient, type KafkaConnection } from '../connection/kafka-connection.js';
import { openProducer, type OpenProducer } from './producer.js';
import type { TopicSettings } from '../topics/topic-definition.js';
import { ensureTopics } from '../topics/topics.admin.js';

/**
 * Publishes the log to Kafka topics, at least once. The follower's advisory lock ensures that only one publisher is
 * active.
 *
 * The producer is absent → opening → open → absent …: `connect` or the next `publish` opens it, and **a producer is
 * never used after a failure**. After a failure it is unknown which partitions accepted the batch, while kafkajs resets
 * the sequence numbers of all of them. Sending the same batch again would be harmless, but the caller reads its batch
 * again from the log, and it may be longer by then. The broker would answer every later request with "out of order
 * sequence number". A new producer has a new id and new sequence numbers. Events that the broker had already accepted
 * are then in the topic twice, with the same `ce_id` and `ce_version`.
 *
 * The order stays correct: repeated events begin where the acknowledged part ends, so the first occurrences of a key's
 * events are always in the order of the log, even if a request of the old producer arrives late.
 */
export class KafkaPublisher {
  private readonly kafka: Kafka;
  private producer: Promise<OpenProducer> | null = null;
  private underway: Promise<void> | null = null;
  private closed = false;

  constructor(
    connection: KafkaConnection,
    private readonly registry: EventRegistry,
    private readonly origin: CloudEventSource,
    private readonly logger: Logger,
  ) {
    this.kafka = createKafkaClient(connection, logger);
  }

  /** Reports at once whether the brokers can be reached. `publish` connects by itself. */
  async connect(): Promise<void> {
    this.closed = false;
    try {
      await this.open();
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Creates missing topics. `topics` are full names, for example those of `listTopics`. */
  async ensureTopics(topics: readonly string[], settings: TopicSettings): Promise<void> {
    const logTopics = topics.map((name) => ({ name, use: 'log' as const }));
    await ensureTopics(this.kafka, logTopics, settings, this.logger);
  }

  /**
   * Resolves when all in-sync replicas have acknowledged every event. If it rejects, an unknown part was published, and
   * the caller must publish all events since its checkpoint again.
   */
  async publish(events: readonly RecordedEvent[]): Promise<void> {
    if (this.closed) throw new Error('the connection to Kafka was closed');
    if (this.underway) throw new Error('publish was called before the last call was settled: order would be lost');
    const messages = events.map((event) => this.toMessage(event));
    const spans = messages.map(openSendSpan);
    this.underway = this.send(messages.map((message, n) => withTraceparent(message, spans[n]?.traceparent)));
    try {
      await this.underway;
      for (const span of spans) span?.end();
    } catch (error) {
      for (const span of spans) span?.end(error);
      throw error;
    } finally {
      this.underway = null;
    }
  }

  /** Resolves when the last `publish` is settled and the sockets are closed. */
  async disconnect(): Promise<void> {
    this.closed = true;
    // Without this wait, a retry of kafkajs would connect again and keep the process alive. The caller of `publish`
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

  private async send(messages: readonly OutboundMessage[]): Promise<void> {
    try {
      const producer = await this.open();
      for (const request of splitIntoRequests(messages)) await producer.send(request);
    } catch (error) {
      this.abandon();
      throw new Error(`Kafka did not accept the events: ${text(error)}`, { cause: error });
    }
  }

  private toMessage(event: RecordedEvent): OutboundMessage {
    const kind = this.registry[event.type];
    if (!kind) throw new Error(`unknown event type ${event.type}`);
    return toKafkaMessage(event, kind, this.origin);
  }

  private open(): Promise<OpenProducer> {
    this.producer ??= openProducer(this.kafka);
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

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Starts the span of a message, in the trace of its event. Returns null if the event has no recorded trace. */
const openSendSpan = ({ topic, headers: { traceparent, ce_id: id = '' } }: OutboundMessage) =>
  openSpan(traceparent, `send ${topic}`, {
    kind: 'PRODUCER',
    attributes: {
      'messaging.system': 'kafka',
      'messaging.destination.name': topic,
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.message.id': id,
    },
  });

/** Consumers continue the trace at the span of the message. */
const withTraceparent = (message: OutboundMessage, traceparent: string | undefined): OutboundMessage =>
  traceparent === undefined ? message : { ...message, headers: { ...message.headers, traceparent } };

import type { EventRegistry, Logger, RecordedEvent } from '#kernel';
import type { Kafka } from 'kafkajs';
import { splitIntoRequests } from './request-batches.js';
import { toKafkaMessage, type OutboundMessage, type CloudEventSource } from './cloud-event.js';
import { createKafkaClient, type KafkaConnection } from '../connection/kafka-connection.js';
import { openProducer, type OpenProducer } from './producer.js';
import { ensureTopics } from '../connection/topics.js';

/**
 * The log as Kafka topics. One publisher at a time (the follower's advisory lock sees to that), at least once.
 *
 * The producer is absent → opening → open → absent …: it is opened by `connect` or the next `publish`, and **a producer
 * never outlives a failure**. After one, it is not known which partitions took the batch, while kafkajs sets all their
 * sequence numbers back. Sent again unchanged that is harmless; but the caller reads its batch anew from the log, by
 * then a longer one, and the broker answers "out of order sequence number" from then on. A new producer has a new id and
 * starts clean; what the broker had already taken is in the topic twice, with the same `ce_id` and `ce_version`.
 * Order survives: whatever is sent again begins where the acknowledged part ends, so the first occurrences of a key's
 * events are always in the order of the log, also where a request of the old producer arrives late.
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

  /** Tells at once whether the brokers can be reached; `publish` connects by itself. */
  async connect(): Promise<void> {
    this.closed = false;
    try {
      await this.open();
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Creates the topics that are missing; full names, for example those of `listTopics`. */
  async ensureTopics(topics: readonly string[]): Promise<void> {
    await ensureTopics(this.kafka, topics, this.logger);
  }

  /**
   * Resolves when every event is acknowledged by all in-sync replicas. Where it rejects, an unknown part was published:
   * the caller comes again with all of them, or with all since its checkpoint.
   */
  async publish(events: readonly RecordedEvent[]): Promise<void> {
    if (this.closed) throw new Error('the connection to Kafka was closed');
    if (this.underway) throw new Error('publish was called before the last call was settled: order would be lost');
    const messages = events.map((event) => this.toMessage(event));
    this.underway = this.send(messages);
    try {
      await this.underway;
    } finally {
      this.underway = null;
    }
  }

  /** Resolves when the last `publish` is settled and the sockets are closed. */
  async disconnect(): Promise<void> {
    this.closed = true;
    // Else kafkajs' own retry would connect anew what is closed here, and keep the process alive. How it ends is for
    // the caller of publish to know.
    await this.underway?.catch(() => undefined);
    const producer = this.producer;
    this.producer = null;
    // That it could not be opened was told to whoever opened it; there is nothing left to close.
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
      throw new Error(`Kafka did not take the events: ${text(error)}`, { cause: error });
    }
  }

  private toMessage(event: RecordedEvent): OutboundMessage {
    const kind = this.registry[event.type];
    if (!kind) throw new Error(`no slice knows an event named ${event.type}`);
    return toKafkaMessage(event, kind, this.origin);
  }

  private open(): Promise<OpenProducer> {
    this.producer ??= openProducer(this.kafka);
    return this.producer;
  }

  /** Closing waits for requests that a hung broker may never answer: it is not waited for. */
  private abandon(): void {
    const failed = this.producer;
    this.producer = null;
    failed
      ?.then((open) => open.close())
      .catch((error: unknown) => this.logger.debug({ err: error }, 'a failed Kafka producer was given up'));
  }
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

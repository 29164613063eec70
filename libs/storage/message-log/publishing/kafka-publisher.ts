import { getEventKind, type EventRegistry, type Logger, type RecordedEvent } from '#platform/kernel';
import { openSpan } from '#platform/tracing';
import { toKafkaMessage, type OutboundMessage, type CloudEventSource } from '../topics/cloud-event.js';
import type { KafkaConnection } from '../connection/kafka-connection.js';
import type { TopicSettings } from '../topics/topic-definition.js';
import { MessageSender, type LeadershipCheck } from './message-sender.js';

/**
 * Publishes the log to Kafka topics, at least once.
 *
 * The order stays correct: repeated events begin where the acknowledged part ends, so the first occurrences of a key's
 * events are always in the order of the log.
 */
export class KafkaPublisher {
  private readonly sender: MessageSender;

  constructor(
    connection: KafkaConnection,
    private readonly registry: EventRegistry,
    private readonly origin: CloudEventSource,
    logger: Logger,
  ) {
    this.sender = new MessageSender(connection, logger, `${origin.prefix}.publisher`);
  }

  /** Creates missing topics. `topics` are full names, for example those of `listTopics`. */
  ensureTopics(topics: readonly string[], settings: TopicSettings): Promise<void> {
    return this.sender.ensureTopics(
      topics.map((name) => ({ name, use: 'log' })),
      settings,
    );
  }

  /**
   * Resolves when all in-sync replicas have acknowledged every event. If it rejects, an unknown part was published, and
   * the caller must publish all events since its checkpoint again. `requireLeadership`: see MessageSender.
   */
  async publish(events: readonly RecordedEvent[], requireLeadership?: LeadershipCheck): Promise<void> {
    const messages = events.map((event) => this.toMessage(event));
    const spans = messages.map(openSendSpan);
    try {
      await this.sender.send(
        messages.map((message, n) => withTraceparent(message, spans[n]?.traceparent)),
        requireLeadership,
      );
      for (const span of spans) span?.end();
    } catch (error) {
      for (const span of spans) span?.end(error);
      throw error;
    }
  }

  /** Resolves when the last `publish` is settled, and its producer is closed unless it has failed. */
  disconnect(): Promise<void> {
    return this.sender.disconnect();
  }

  private toMessage(event: RecordedEvent): OutboundMessage {
    return toKafkaMessage(event, getEventKind(this.registry, event.type), this.origin);
  }
}

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

import type { IHeaders, Kafka, PartitionerArgs, RecordMetadata } from 'kafkajs';
import { loadKafkajs } from '../connection/kafkajs.js';

/** A message to send, with text for events of the log, or with the received bytes. */
export type OutgoingMessage = {
  readonly topic: string;
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers: Readonly<IHeaders>;
  /** Default: the present time. */
  readonly timestamp?: string;
};

/** An open idempotent producer. After a failed `send` it must be closed and not used again. */
export type OpenProducer = {
  /** Resolves when every in-sync replica has acknowledged all messages. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
};

/** Less than the client's request time-out, so that the broker's error "not enough replicas" arrives in time. */
const ACK_TIMEOUT_MS = 10_000;

export const openProducer = async (kafka: Kafka): Promise<OpenProducer> => {
  const chosen = new Set<string>();
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    // ensureTopics creates topics with the configuration for a log.
    allowAutoTopicCreation: false,
    createPartitioner: () => createRecordingPartitioner(chosen),
  });
  try {
    await producer.connect();
  } catch (error) {
    await producer.disconnect();
    throw error;
  }
  return {
    send: async (messages) => {
      chosen.clear();
      const topicMessages = [...Map.groupBy(messages, ({ topic }) => topic)].map(([topic, all]) => ({
        topic,
        messages: all,
      }));
      const acknowledged = await producer.sendBatch({ topicMessages, acks: -1, timeout: ACK_TIMEOUT_MS });
      const missing = listUnacknowledged(chosen, acknowledged);
      if (missing.length > 0) throw new Error(`no broker acknowledged ${missing.join(', ')}`);
    },
    close: () => producer.disconnect(),
  };
};

/**
 * Returns a partitioner that records its choices. It uses Murmur2 like Kafka's own clients, so that other tools find a
 * stream's partition by its key.
 */
const createRecordingPartitioner = (chosen: Set<string>): ((args: PartitionerArgs) => number) => {
  const choose = loadKafkajs().Partitioners.DefaultPartitioner();
  return (args) => {
    const partition = choose(args);
    chosen.add(formatPartition(args.topic, partition));
    return partition;
  };
};

/**
 * Returns the partitions that messages were sent to and that no broker acknowledged. kafkajs 2.2.4 can resolve without
 * an error although it skipped some: if a partition's leader moves during a retry to a broker that has already answered
 * for other partitions, sendMessages.js treats that broker as finished and the messages are lost.
 */
export const listUnacknowledged = (chosen: ReadonlySet<string>, acknowledged: readonly RecordMetadata[]): string[] => {
  const answered = new Set(acknowledged.map(({ topicName, partition }) => formatPartition(topicName, partition)));
  return [...chosen].filter((partition) => !answered.has(partition));
};

const formatPartition = (topic: string, partition: number): string => `${topic}/${partition}`;

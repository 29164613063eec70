import { Partitioners, type IHeaders, type Kafka, type PartitionerArgs, type RecordMetadata } from 'kafkajs';

/** A message to be sent; of text, as those of the log are, or of bytes as they came. */
export type OutgoingMessage = {
  readonly topic: string;
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers: Readonly<IHeaders>;
  /** Now, where it is missing. */
  readonly timestamp?: string;
};

/** An open idempotent producer. After a failed `send` it must be closed and never used again. */
export type OpenProducer = {
  /** Resolves when every in-sync replica has all of them. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
};

/** Less than the client's request time-out: the broker's "not enough replicas" then comes before we stop listening. */
const ACK_TIMEOUT_MS = 10_000;

export const openProducer = async (kafka: Kafka): Promise<OpenProducer> => {
  const chosen = new Set<string>();
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    // Topics are made by ensureTopics, with the configuration that a log needs.
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

/** Murmur2, as Kafka's own clients: other tools find a stream's partition by its key. Writes down what it chose. */
const createRecordingPartitioner = (chosen: Set<string>): ((args: PartitionerArgs) => number) => {
  const choose = Partitioners.DefaultPartitioner();
  return (args) => {
    const partition = choose(args);
    chosen.add(formatPartition(args.topic, partition));
    return partition;
  };
};

/**
 * The partitions that were sent to and that no broker has answered for. kafkajs 2.2.4 can resolve without some: where a
 * partition's leader moves during its own retry to a broker that has already answered for others, sendMessages.js skips
 * that broker as done, and the messages are gone without an error.
 */
export const listUnacknowledged = (chosen: ReadonlySet<string>, acknowledged: readonly RecordMetadata[]): string[] => {
  const answered = new Set(acknowledged.map(({ topicName, partition }) => formatPartition(topicName, partition)));
  return [...chosen].filter((partition) => !answered.has(partition));
};

const formatPartition = (topic: string, partition: number): string => `${topic}/${partition}`;

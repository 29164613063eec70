import type { Kafka, Producer, ProducerConfig, RecordMetadata } from 'kafkajs';
import type { OutgoingMessage } from './outgoing-message.js';
import { formatPartition, KeyPartitioner } from './partitioner.js';
import { splitIntoRequests } from './request-batches.js';

/** An open idempotent producer. After a failed `send` it must be closed and not used again. */
export type OpenProducer = {
  /** Resolves when every in-sync replica has acknowledged all messages. With a fencing id they become visible together. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
};

/** Less than the client's request time-out, so that the broker's error "not enough replicas" arrives in time. */
const ACK_TIMEOUT_MS = 10_000;

/**
 * After this time the broker aborts the transaction of a publisher that has stopped. Until then, readers of committed
 * messages wait for its end, unless another publisher takes over.
 */
const TRANSACTION_TIMEOUT_MS = 30_000;

/**
 * A broker refuses the next transaction until it has written the end of the last one, for some milliseconds
 * (CONCURRENT_TRANSACTIONS). With the usual first pause of 100 ms, each batch would take that long.
 */
const TRANSACTION_RETRY = { initialRetryTime: 10, multiplier: 2, factor: 0.2, maxRetryTime: 1_000, retries: 8 };

const createOptions = (partitioner: KeyPartitioner): ProducerConfig => ({
  idempotent: true,
  maxInFlightRequests: 1,
  // ensureTopics creates topics with the configuration for a log.
  allowAutoTopicCreation: false,
  createPartitioner: () => (args) => partitioner.choose(args),
});

const connect = async (producer: Producer): Promise<void> => {
  try {
    await producer.connect();
  } catch (error) {
    await producer.disconnect();
    throw error;
  }
};

/** Sends requests in order, and throws unless brokers have acknowledged all messages of each before the next. */
const sendRequests = async (
  { sendBatch }: Pick<Producer, 'sendBatch'>,
  messages: readonly OutgoingMessage[],
  partitioner: KeyPartitioner,
): Promise<void> => {
  for (const request of splitIntoRequests(messages, (message) => partitioner.expect(message))) {
    partitioner.chosen.clear();
    const topicMessages = [...Map.groupBy(request, ({ topic }) => topic)].map(([topic, all]) => ({
      topic,
      messages: all,
    }));
    const acknowledged = await sendBatch({ topicMessages, acks: -1, timeout: ACK_TIMEOUT_MS });
    const missing = listUnacknowledged(partitioner.chosen, acknowledged);
    if (missing.length > 0) throw new Error(`no broker acknowledged ${missing.join(', ')}`);
  }
};

export const openProducer = async (kafka: Kafka): Promise<OpenProducer> => {
  const partitioner = new KeyPartitioner();
  const producer = kafka.producer(createOptions(partitioner));
  await connect(producer);
  return {
    send: (messages) => sendRequests(producer, messages, partitioner),
    close: () => producer.disconnect(),
  };
};

/**
 * Opens a producer that ends all earlier ones with this id: the broker raises the epoch of the id, aborts an open
 * transaction, and refuses every later request with a lower epoch. `requireLeadership` runs after that, and rejects if this
 * process does not lead. A process that leads then has the highest epoch, or another process has led since.
 */
export const openFencedProducer = async (
  kafka: Kafka,
  transactionalId: string,
  requireLeadership: () => Promise<void>,
): Promise<OpenProducer> => {
  const partitioner = new KeyPartitioner();
  const producer = kafka.producer({
    ...createOptions(partitioner),
    transactionalId,
    transactionTimeout: TRANSACTION_TIMEOUT_MS,
    retry: TRANSACTION_RETRY,
  });
  await connect(producer);
  try {
    // kafkajs gets the epoch with the first transaction.
    await (await producer.transaction()).abort();
    await requireLeadership();
  } catch (error) {
    await producer.disconnect();
    throw error;
  }
  return {
    send: async (messages) => {
      const transaction = await producer.transaction();
      await sendRequests(transaction, messages, partitioner);
      await transaction.commit();
    },
    close: () => producer.disconnect(),
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

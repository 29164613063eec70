import kafkajs from 'kafkajs';
import { createKafkaClient } from '#storage/message-log';
import { quiet } from '../silent-logger.js';
import { readTopic, type TopicMessage } from './read-topic.js';

const END = 'the end of this test';

/** Sends a message to each partition. Returns the number of partitions. */
const sendEnds = async (brokers: readonly string[], topic: string, mark: string): Promise<number> => {
  const client = createKafkaClient({ brokers, clientId: 'test-reader' }, quiet);
  const admin = client.admin();
  const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await Promise.all([admin.connect(), producer.connect()]);
  try {
    const [metadata] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics;
    const partitions = metadata?.partitions ?? [];
    await producer.send({
      topic,
      messages: partitions.map(({ partitionId: partition }) => ({ key: END, value: mark, partition })),
    });
    return partitions.length;
  } finally {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  }
};

let reads = 0;

/** Returns all messages that are in the topic now, with those of transactions that ended. */
export const readWholeTopic = async (brokers: readonly string[], topic: string): Promise<readonly TopicMessage[]> => {
  reads += 1;
  const mark = String(reads);
  const partitions = await sendEnds(brokers, topic, mark);
  const isMark = ({ key, value }: TopicMessage): boolean => key === END && value === mark;
  const messages = await readTopic(brokers, [topic], (all) => all.filter(isMark).length === partitions);
  return messages.filter(({ key }) => key !== END);
};

/** Returns the last message of each key, as a consumer keeps it in a table. Deleted keys have no row. */
export const toTable = (messages: readonly TopicMessage[]): ReadonlyMap<string, unknown> => {
  const table = new Map<string, unknown>();
  for (const { key, value } of messages) {
    if (value === null) table.delete(key ?? '');
    else table.set(key ?? '', JSON.parse(value));
  }
  return table;
};

import type { Admin, Kafka } from 'kafkajs';
import { formatPartition } from './consumer-positions.js';

/** Throws an error that names the topics that do not exist. */
export const checkTopics = async (kafka: Kafka, topics: readonly string[]): Promise<void> => {
  const visible = new Set(await withAdmin(kafka, (admin) => admin.listTopics()));
  const missing = topics.filter((topic) => !visible.has(topic));
  if (missing.length > 0)
    throw new Error(`the topics ${missing.join(', ')} do not exist, or the user of Kafka may not describe them`);
};

/** Returns the offset of the first record that Kafka still has, by `TOPIC/PARTITION`. */
export const readFirstOffsets = (kafka: Kafka, topics: readonly string[]): Promise<ReadonlyMap<string, bigint>> =>
  withAdmin(kafka, async (admin) => {
    const first = new Map<string, bigint>();
    for (const topic of topics) {
      for (const { partition, low } of await admin.fetchTopicOffsets(topic))
        first.set(formatPartition({ topic, partition }), BigInt(low));
    }
    return first;
  });

const withAdmin = async <T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

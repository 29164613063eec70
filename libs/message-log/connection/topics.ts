import type { Admin, Kafka } from 'kafkajs';
import pRetry from 'p-retry';
import type { EventRegistry, Logger } from '#kernel';
import { loadKafkajs } from './kafkajs.js';
import { toTopicName } from '../publishing/cloud-event.js';

const PARTITIONS = 6;
const REPLICAS = 3;

/**
 * A topic is a copy of the log: no event is deleted by age or size, whatever the brokers' defaults. Otherwise a site
 * that configures Kafka after a year would lose its history on arrival, because timestamps are the events' own. With
 * these timestamps a consumer can start at a date.
 */
const LOG_CONFIG = {
  'cleanup.policy': 'delete',
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'message.timestamp.type': 'CreateTime',
  // Allows a single large event. Requests stay below the brokers' usual limit (request-batches.ts).
  'max.message.bytes': '8388608',
} as const;

/**
 * Messages of other services are recorded when they arrive, so these topics keep them only for a month, for inspection.
 * The broker sets the timestamps: a sender's timestamp may be a year old, and the message would be deleted before it is
 * read. The broker also recompresses all messages: kafkajs cannot read Snappy, LZ4 or Zstandard, and the consumer would
 * be stuck at such a message.
 */
const INBOUND_TOPIC_CONFIG = {
  'cleanup.policy': 'delete',
  'retention.ms': String(30 * 24 * 60 * 60 * 1_000),
  'message.timestamp.type': 'LogAppendTime',
  'compression.type': 'gzip',
  'max.message.bytes': LOG_CONFIG['max.message.bytes'],
} as const;

export const listTopics = (registry: EventRegistry, prefix: string): string[] =>
  [...new Set(Object.values(registry).map((kind) => toTopicName(kind, prefix)))].toSorted();

/** Creates missing topics. An existing topic belongs to the operator: it is inspected and not changed. */
export const ensureTopics = async (
  kafka: Kafka,
  topics: readonly string[],
  logger: Logger,
  use: 'log' | 'inbound' = 'log',
): Promise<void> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !existing.has(topic));
    if (missing.length > 0) await create(admin, missing, logger, use === 'log' ? LOG_CONFIG : INBOUND_TOPIC_CONFIG);
    if (use === 'inbound') return;
    await inspect(
      admin,
      topics.filter((topic) => existing.has(topic)),
      logger,
    );
  } finally {
    await admin.disconnect();
  }
};

const create = async (
  admin: Admin,
  topics: readonly string[],
  logger: Logger,
  baseConfig: Readonly<Record<string, string>>,
): Promise<void> => {
  const { brokers } = await admin.describeCluster();
  const replicas = Math.min(REPLICAS, brokers.length);
  // With three replicas, an acknowledged event survives the loss of a broker, and publishing continues while one broker
  // is down.
  const config = { ...baseConfig, 'min.insync.replicas': replicas >= REPLICAS ? '2' : '1' };
  // Resolves also if another publisher has created the topic meanwhile.
  await admin.createTopics({
    waitForLeaders: false,
    topics: topics.map((topic) => ({
      topic,
      numPartitions: PARTITIONS,
      replicationFactor: replicas,
      configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
    })),
  });
  await untilTheyHaveLeaders(admin, topics);
  logger.info({ topics, partitions: PARTITIONS, replicas }, 'created Kafka topics');
};

/**
 * Waits until all partitions have leaders; before, brokers refuse reads and writes. kafkajs could wait itself, but it
 * fails if a broker does not know the topic yet (UNKNOWN_TOPIC_OR_PARTITION), which happens on a busy machine.
 */
const untilTheyHaveLeaders = (admin: Admin, topics: readonly string[]): Promise<void> =>
  pRetry(
    async () => {
      const { topics: metadata } = await admin.fetchTopicMetadata({ topics: [...topics] });
      const lost = metadata.filter(({ partitions }) => partitions.some(({ leader }) => leader < 0));
      if (lost.length > 0) throw new Error(`no leader yet for ${lost.map(({ name }) => name).join(', ')}`);
    },
    { retries: 10, minTimeout: 50, maxTimeout: 1_000 },
  );

const FULL_RETENTION_SETTINGS = ['cleanup.policy', 'retention.ms', 'retention.bytes'] as const;

/** Warns if a topic deletes or compacts events. The operator may want that, so it is only logged. */
const inspect = async (admin: Admin, topics: readonly string[], logger: Logger): Promise<void> => {
  if (topics.length === 0) return;
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({
      type: loadKafkajs().ConfigResourceTypes.TOPIC,
      name,
      configNames: [...FULL_RETENTION_SETTINGS],
    })),
  });
  for (const { resourceName: topic, configEntries } of resources) {
    for (const { configName, configValue } of configEntries) {
      if (configValue === LOG_CONFIG[configName as (typeof FULL_RETENTION_SETTINGS)[number]]) continue;
      logger.warn({ topic, [configName]: configValue }, 'this Kafka topic does not keep every event');
    }
  }
};

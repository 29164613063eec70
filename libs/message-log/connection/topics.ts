import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import pRetry from 'p-retry';
import type { EventRegistry, Logger } from '#kernel';
import { toTopicName } from '../publishing/cloud-event.js';

const PARTITIONS = 6;
const REPLICAS = 3;

/**
 * A topic is a copy of the log: nothing leaves it by age or size, whatever the brokers' defaults, or a site that
 * connects Kafka after a year would see its history (time stamps of a year ago) deleted on arrival. Time stamps are the
 * events' own, so that a consumer can start at a date.
 */
const LOG_CONFIG = {
  'cleanup.policy': 'delete',
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'message.timestamp.type': 'CreateTime',
  // Room for a single large event; requests stay below the brokers' usual limit (request-batches.ts).
  'max.message.bytes': '8388608',
} as const;

/**
 * What others send is recorded when it has come, so these topics need not keep it: a month, for who wants to look. By
 * the broker's time, for a sender's may be of a year ago, and the message gone before it was read. The broker packs anew
 * what senders have packed in another way: kafkajs reads no Snappy, LZ4 or Zstandard, and would stand before it for ever.
 */
const INBOUND_TOPIC_CONFIG = {
  'cleanup.policy': 'delete',
  'retention.ms': String(30 * 24 * 60 * 60 * 1_000),
  'message.timestamp.type': 'LogAppendTime',
  'compression.type': 'gzip',
  'max.message.bytes': LOG_CONFIG['max.message.bytes'],
} as const;

/** All topics that the events of these slices go to. */
export const listTopics = (registry: EventRegistry, prefix: string): string[] =>
  [...new Set(Object.values(registry).map((kind) => toTopicName(kind, prefix)))].toSorted();

/** Creates what is missing. A topic that exists belongs to the operator: it is looked at and left as it is. */
export const ensureTopics = async (
  kafka: Kafka,
  topics: readonly string[],
  logger: Logger,
  use: 'log' | 'inbox' = 'log',
): Promise<void> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !existing.has(topic));
    if (missing.length > 0) await create(admin, missing, logger, use === 'log' ? LOG_CONFIG : INBOUND_TOPIC_CONFIG);
    if (use === 'inbox') return;
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
  kept: Readonly<Record<string, string>>,
): Promise<void> => {
  const { brokers } = await admin.describeCluster();
  const replicas = Math.min(REPLICAS, brokers.length);
  // With three replicas an acknowledged event outlives the loss of a broker, and one may be away without a halt.
  const config = { ...kept, 'min.insync.replicas': replicas >= REPLICAS ? '2' : '1' };
  // Resolves also where another publisher was faster and the topic is there by now.
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
 * Who writes or reads earlier is turned away. kafkajs would wait by itself, but takes it for a failure when the broker has
 * not heard of the topic yet (UNKNOWN_TOPIC_OR_PARTITION), as happens on a busy machine.
 */
const untilTheyHaveLeaders = (admin: Admin, topics: readonly string[]): Promise<void> =>
  pRetry(
    async () => {
      const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] });
      const lost = found.filter(({ partitions }) => partitions.some(({ leader }) => leader < 0));
      if (lost.length > 0) throw new Error(`no leader yet for ${lost.map(({ name }) => name).join(', ')}`);
    },
    { retries: 10, minTimeout: 50, maxTimeout: 1_000 },
  );

const FULL_RETENTION_SETTINGS = ['cleanup.policy', 'retention.ms', 'retention.bytes'] as const;

/** Retention or compaction of the operator's may be meant; a history that vanishes by surprise is told of once. */
const inspect = async (admin: Admin, topics: readonly string[], logger: Logger): Promise<void> => {
  if (topics.length === 0) return;
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
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

import type { Admin, Kafka } from 'kafkajs';
import pRetry from 'p-retry';
import type { EventRegistry, Logger } from '#platform/kernel';
import { loadKafkajs } from '../connection/kafkajs.js';
import { toTopicName } from './cloud-event.js';
import { defineTopic, type TopicDefinition, type TopicSettings, type TopicUse } from './topic-definition.js';
import { compareTopic, type ExistingTopic, type TopicDifference } from './topic-differences.js';

/** Returns the full names of the topics of all event types, sorted. */
export const listTopics = (registry: EventRegistry, prefix: string): string[] =>
  [...new Set(Object.values(registry).map((kind) => toTopicName(kind, prefix)))].toSorted();

export type NamedTopic = { readonly name: string; readonly use: TopicUse };

/**
 * Creates missing topics. An existing topic belongs to the operator: it is compared with the settings and not changed,
 * and a difference of a topic that Cadastre writes is logged.
 */
export const ensureTopics = (
  kafka: Kafka,
  topics: readonly NamedTopic[],
  settings: TopicSettings,
  logger: Logger,
): Promise<void> =>
  withAdmin(kafka, async (admin) => {
    const { definitions, differences } = await compare(admin, topics, settings);
    await create(admin, selectMissing(definitions, differences), logger);
    const ownTopics = new Set(topics.filter(({ use }) => use !== 'inbound').map(({ name }) => name));
    const differing = differences.filter(({ topic, action }) => action !== 'create' && ownTopics.has(topic));
    for (const [topic, all] of Map.groupBy(differing, (difference) => difference.topic)) {
      const values = Object.fromEntries(all.map(({ attribute, actual, target }) => [attribute, { actual, target }]));
      logger.warn({ topic, ...values }, 'this Kafka topic differs from the settings; see "cadastre topics plan"');
    }
  });

/** Returns whether the brokers have the topic. */
export const hasTopic = (kafka: Kafka, name: string): Promise<boolean> =>
  withAdmin(kafka, async (admin) => (await admin.listTopics()).includes(name));

/**
 * Returns those of these existing topics that never had a message: a topic was deleted, or the cluster is new. Brokers
 * refuse the request for a moment after the creation of a topic.
 */
export const listUnwrittenTopics = (kafka: Kafka, topics: readonly string[]): Promise<readonly string[]> =>
  withAdmin(kafka, async (admin) => {
    const fetchOffsets = (topic: string) =>
      pRetry(() => admin.fetchTopicOffsets(topic), { retries: 6, minTimeout: 50, maxTimeout: 1_000 });
    const offsets = await Promise.all(topics.map(fetchOffsets));
    return topics.filter((_, n) => offsets[n]?.every(({ high }) => high === '0'));
  });

/** Offsets of a partition; `end` is exclusive. */
export type OffsetRange = { readonly from: bigint; readonly end: bigint };

/**
 * Returns the offsets of each partition from the first message of this time or later on, or from the first one if `since` is
 * null, and of at least the last `atLeast` messages.
 */
export const fetchTailOffsets = (
  kafka: Kafka,
  topic: string,
  since: Date | null,
  atLeast: number,
): Promise<readonly (OffsetRange & { readonly partition: number })[]> =>
  withAdmin(kafka, async (admin) => {
    const firsts = since ? await admin.fetchTopicOffsetsByTimestamp(topic, since.getTime()) : [];
    const offsets = new Map(firsts.map(({ partition, offset }) => [partition, BigInt(offset)]));
    // Read afterwards, so that no end is before the offset of a time.
    const bounds = await admin.fetchTopicOffsets(topic);
    return bounds.map(({ partition, low, high }) => {
      const [first, end] = [BigInt(low), BigInt(high)];
      const start = [offsets.get(partition) ?? first, end - BigInt(atLeast)].reduce((a, b) => (a < b ? a : b));
      return { partition, from: start > first ? start : first, end };
    });
  });

/** Returns the number of messages of each partition that the consumer group has not committed. */
export const fetchGroupLag = (kafka: Kafka, group: string, topic: string): Promise<ReadonlyMap<number, number>> =>
  withAdmin(kafka, async (admin) => {
    const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const offsets = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
    const ends = await admin.fetchTopicOffsets(topic);
    return new Map(
      ends.map(({ partition, low, high }) => [
        partition,
        Number(high) - Math.max(offsets.get(partition) ?? 0, Number(low)),
      ]),
    );
  });

/** Returns how the topics of the cluster differ from the settings. Rejects if no broker responds. */
export const findTopicDifferences = (
  kafka: Kafka,
  topics: readonly NamedTopic[],
  settings: TopicSettings,
): Promise<readonly TopicDifference[]> =>
  withAdmin(kafka, async (admin) => (await compare(admin, topics, settings)).differences);

/**
 * Creates missing topics and changes the configuration of existing ones. Returns the differences that remain: numbers
 * of partitions and replicas.
 */
export const applyTopicSettings = (
  kafka: Kafka,
  topics: readonly NamedTopic[],
  settings: TopicSettings,
  logger: Logger,
): Promise<readonly TopicDifference[]> =>
  withAdmin(kafka, async (admin) => {
    const { definitions, differences } = await compare(admin, topics, settings);
    await create(admin, selectMissing(definitions, differences), logger);
    const configured = differences.filter(({ action }) => action === 'configure');
    for (const [topic, changes] of Map.groupBy(configured, (difference) => difference.topic))
      await configure(admin, topic, changes);
    return compareAfterChange(admin, topics, settings);
  });

/** Brokers describe the former values for a moment after a change. Returns the differences that remain after 10 s. */
const compareAfterChange = async (
  admin: Admin,
  topics: readonly NamedTopic[],
  settings: TopicSettings,
): Promise<readonly TopicDifference[]> => {
  let remaining: readonly TopicDifference[] = [];
  const requireChange = async (): Promise<void> => {
    remaining = (await compare(admin, topics, settings)).differences;
    if (remaining.some(({ action }) => action !== 'keep')) throw new Error('the brokers have not changed every topic');
  };
  // The caller reports what remains.
  await pRetry(requireChange, { retries: 12, minTimeout: 50, maxTimeout: 1_000 }).catch((error: unknown) => {
    if (remaining.length === 0) throw error;
  });
  return remaining;
};

const withAdmin = async <T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

type TopicComparison = {
  readonly definitions: readonly TopicDefinition[];
  readonly differences: readonly TopicDifference[];
};

const compare = async (
  admin: Admin,
  topics: readonly NamedTopic[],
  settings: TopicSettings,
): Promise<TopicComparison> => {
  const { brokers } = await admin.describeCluster();
  const definitions = topics.map(({ name, use }) => defineTopic(name, use, settings, brokers.length));
  const existing = await describeTopics(
    admin,
    topics.map(({ name }) => name),
  );
  return {
    definitions,
    differences: definitions.flatMap((definition) => compareTopic(definition, existing.get(definition.name))),
  };
};

const selectMissing = (
  definitions: readonly TopicDefinition[],
  differences: readonly TopicDifference[],
): readonly TopicDefinition[] => {
  const missing = new Set(differences.filter(({ action }) => action === 'create').map(({ topic }) => topic));
  return definitions.filter(({ name }) => missing.has(name));
};

/** Returns those of the topics that exist, by name. */
const describeTopics = async (admin: Admin, names: readonly string[]): Promise<ReadonlyMap<string, ExistingTopic>> => {
  const all = new Set(await admin.listTopics());
  const present = names.filter((name) => all.has(name));
  if (present.length === 0) return new Map();
  const [{ topics }, configs] = [
    await admin.fetchTopicMetadata({ topics: present }),
    await describeConfigs(admin, present),
  ];
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      {
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        config: Object.fromEntries((configs.get(name) ?? []).map((entry) => [entry.configName, entry.configValue])),
      },
    ]),
  );
};

type ConfigEntry = { readonly configName: string; readonly configValue: string; readonly configSource: number };

const describeConfigs = async (
  admin: Admin,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly ConfigEntry[]>> => {
  const type = loadKafkajs().ConfigResourceTypes.TOPIC;
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type, name })),
  });
  return new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]));
};

/** `configSource` of a value that was set on the topic itself. Other values are defaults of the brokers. */
const SET_ON_TOPIC = 1;

/** The request of kafkajs replaces all values that were set on the topic, so the others are sent again. */
const configure = async (admin: Admin, topic: string, changes: readonly TopicDifference[]): Promise<void> => {
  const entries = (await describeConfigs(admin, [topic])).get(topic) ?? [];
  const present = entries.filter(({ configSource }) => configSource === SET_ON_TOPIC);
  const values = new Map(present.map(({ configName, configValue }) => [configName, configValue]));
  for (const { attribute, target } of changes) values.set(attribute, target);
  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: loadKafkajs().ConfigResourceTypes.TOPIC,
        name: topic,
        configEntries: [...values].map(([name, value]) => ({ name, value })),
      },
    ],
  });
};

const create = async (admin: Admin, definitions: readonly TopicDefinition[], logger: Logger): Promise<void> => {
  if (definitions.length === 0) return;
  // Resolves also if another publisher has created the topic meanwhile.
  await admin.createTopics({
    waitForLeaders: false,
    topics: definitions.map(({ name, partitions, replicas, config }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replicas,
      configEntries: Object.entries(config).map(([key, value]) => ({ name: key, value })),
    })),
  });
  const topics = definitions.map(({ name }) => name);
  await untilTheyHaveLeaders(admin, topics);
  logger.info({ topics }, 'created Kafka topics');
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
    { retries: 20, minTimeout: 50, maxTimeout: 1_000 },
  );

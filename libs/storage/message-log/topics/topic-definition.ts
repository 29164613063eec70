/** The settings `KAFKA_TOPIC_…`: how the brokers keep the topics of a site. */
export type TopicSettings = {
  readonly partitions: number;
  /** Null: three, or the number of brokers if there are fewer. */
  readonly replicas: number | null;
  /** Days after which topics of the log delete messages; null: never. */
  readonly retentionDays: number | null;
};

/** What Cadastre sets on a topic. `config` contains values as Kafka writes them. */
export type TopicDefinition = {
  readonly name: string;
  readonly partitions: number;
  readonly replicas: number;
  readonly config: Readonly<Record<string, string>>;
};

/** A topic of events of the log, of the latest documents of resources, or of messages of other services. */
export type TopicUse = 'log' | 'state' | 'inbound';

const REPLICAS = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
const FOREVER = '-1';

/** Allows a single large event. Requests stay below the brokers' usual limit (request-batches.ts). */
const MAX_MESSAGE_BYTES = '8388608';

/**
 * A topic is a copy of the log: unless a setting says otherwise, no event is deleted by age or size, whatever the
 * brokers' defaults. Otherwise a site that configures Kafka after a year would lose its history on arrival, because
 * timestamps are the events' own. With these timestamps a consumer can start at a date. Brokers do not compress messages
 * again: some clients cannot read each codec.
 */
const buildLogConfig = ({ retentionDays }: TopicSettings): Readonly<Record<string, string>> => ({
  'cleanup.policy': 'delete',
  'retention.ms': retentionDays === null ? FOREVER : String(retentionDays * DAY_MS),
  'retention.bytes': FOREVER,
  'message.timestamp.type': 'CreateTime',
  'compression.type': 'producer',
  'max.message.bytes': MAX_MESSAGE_BYTES,
});

/**
 * Messages of other services are recorded when they arrive, so these topics keep them only for a month, for inspection.
 * The broker sets the timestamps: a sender's timestamp may be a year old, and the message would be deleted before it is
 * read. The broker also recompresses all messages: kafkajs cannot read Snappy, LZ4 or Zstandard, and the consumer would
 * be stuck at such a message.
 */
const INBOUND_CONFIG = {
  'cleanup.policy': 'delete',
  'retention.ms': String(30 * DAY_MS),
  'message.timestamp.type': 'LogAppendTime',
  'compression.type': 'gzip',
  'max.message.bytes': MAX_MESSAGE_BYTES,
} as const;

/**
 * Kafka keeps the last message of each key for ever. The maximal lag bounds how long an earlier document of a resource
 * remains: without it, brokers never compact the segment that they write. A consumer that was stopped longer than
 * `delete.retention.ms` misses deletions, because Kafka then removes the message without a value too.
 */
const STATE_CONFIG = {
  'cleanup.policy': 'compact',
  'message.timestamp.type': 'CreateTime',
  'compression.type': 'producer',
  'max.message.bytes': MAX_MESSAGE_BYTES,
  'max.compaction.lag.ms': String(DAY_MS),
  'delete.retention.ms': String(30 * DAY_MS),
} as const;

const buildConfig = (use: TopicUse, settings: TopicSettings): Readonly<Record<string, string>> => {
  if (use === 'log') return buildLogConfig(settings);
  return use === 'state' ? STATE_CONFIG : INBOUND_CONFIG;
};

/** Returns what the settings demand of a topic in a cluster with this number of brokers. */
export const defineTopic = (name: string, use: TopicUse, settings: TopicSettings, brokers: number): TopicDefinition => {
  const replicas = settings.replicas ?? Math.min(REPLICAS, brokers);
  // With three replicas, an acknowledged event survives the loss of a broker, and publishing continues while one broker
  // is down.
  const minInsync = replicas >= REPLICAS ? '2' : '1';
  return {
    name,
    partitions: settings.partitions,
    replicas,
    config: { ...buildConfig(use, settings), 'min.insync.replicas': minInsync },
  };
};

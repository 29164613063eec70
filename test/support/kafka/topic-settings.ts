import type { TopicSettings } from '#storage/message-log';

/** The defaults of the settings. */
export const TOPIC_SETTINGS: TopicSettings = { partitions: 6, replicas: null, retentionDays: null };

import type { EventRegistry, RecordedEvent } from '#platform/kernel';
import { createKafkaClient, listTopics } from '#storage/message-log';
import { quiet } from '../silent-logger.js';
import { readTopic, type TopicMessage } from './read-topic.js';

const idOf = ({ headers }: TopicMessage): string => headers['ce_id'] ?? '';

const PATIENCE_MS = 30_000;
const POLL_MS = 50;

/**
 * Resolves when the topics exist. The publisher creates them before its first message, and a consumer that starts
 * earlier fails.
 */
export const waitForTopics = async (brokers: readonly string[], topics: readonly string[]): Promise<void> => {
  const admin = createKafkaClient({ brokers, clientId: 'test-reader' }, quiet).admin({ retry: { retries: 0 } });
  const deadline = Date.now() + PATIENCE_MS;
  await admin.connect();
  try {
    for (;;) {
      const absent = await admin.fetchTopicMetadata({ topics: [...topics] }).then(
        ({ topics: metadata }) => metadata.some(({ partitions }) => partitions.some(({ leader }) => leader < 0)),
        () => true,
      );
      if (!absent) return;
      if (Date.now() > deadline)
        throw new Error(`after ${PATIENCE_MS} ms some of these topics do not exist: ${topics.join()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await admin.disconnect();
  }
};

/** Returns all messages in all topics of a registry, as soon as every one of the events is among them. */
export const readUntilAll = async (
  brokers: readonly string[],
  registry: EventRegistry,
  prefix: string,
  events: readonly Pick<RecordedEvent, 'id'>[],
): Promise<readonly TopicMessage[]> => {
  const topics = listTopics(registry, prefix);
  await waitForTopics(brokers, topics);
  const missing = new Set(events.map(({ id }) => id));
  let checked = 0;
  return readTopic(brokers, topics, (messages) => {
    for (; checked < messages.length; checked += 1) missing.delete(idOf(messages[checked] as TopicMessage));
    return missing.size === 0;
  });
};

/** Returns the first delivery of each id, as consumers should do. */
export const withoutRedeliveries = (messages: readonly TopicMessage[]): readonly TopicMessage[] => {
  const first = new Map<string, TopicMessage>();
  for (const message of messages) if (!first.has(idOf(message))) first.set(idOf(message), message);
  return [...first.values()];
};

/** Returns the versions of each stream, in the order of arrival. */
export const versionsByKey = (messages: readonly TopicMessage[]): ReadonlyMap<string, readonly number[]> => {
  const streams = Map.groupBy(messages, ({ key }) => key ?? '');
  return new Map([...streams].map(([key, all]) => [key, all.map(({ headers }) => Number(headers['ce_version']))]));
};

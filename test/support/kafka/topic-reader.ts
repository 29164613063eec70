import type { EventRegistry, RecordedEvent } from '#kernel';
import { createKafkaClient, listTopics } from '#message-log';
import { quiet } from '../silent-logger.js';
import { readTopic, type TopicMessage } from './read-topic.js';

const idOf = ({ headers }: TopicMessage): string => headers['ce_id'] ?? '';

const PATIENCE_MS = 30_000;
const POLL_MS = 50;

/** The publisher makes the topics when it has something to publish: a consumer that comes earlier is turned away. */
export const waitForTopics = async (brokers: readonly string[], topics: readonly string[]): Promise<void> => {
  const admin = createKafkaClient({ brokers, clientId: 'test-reader' }, quiet).admin({ retry: { retries: 0 } });
  const deadline = Date.now() + PATIENCE_MS;
  await admin.connect();
  try {
    for (;;) {
      const absent = await admin.fetchTopicMetadata({ topics: [...topics] }).then(
        ({ topics: found }) => found.some(({ partitions }) => partitions.some(({ leader }) => leader < 0)),
        () => true,
      );
      if (!absent) return;
      if (Date.now() > deadline)
        throw new Error(`after ${PATIENCE_MS} ms some of these topics are not there: ${topics.join()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await admin.disconnect();
  }
};

/** Everything in all topics of these slices, as soon as every one of the events is among it. */
export const readUntilAll = async (
  brokers: readonly string[],
  registry: EventRegistry,
  prefix: string,
  events: readonly Pick<RecordedEvent, 'id'>[],
): Promise<readonly TopicMessage[]> => {
  const topics = listTopics(registry, prefix);
  await waitForTopics(brokers, topics);
  const missing = new Set(events.map(({ id }) => id));
  let seen = 0;
  return readTopic(brokers, topics, (messages) => {
    for (; seen < messages.length; seen += 1) missing.delete(idOf(messages[seen] as TopicMessage));
    return missing.size === 0;
  });
};

/** As consumers are told to do it: the first delivery of each id counts. */
export const withoutRedeliveries = (messages: readonly TopicMessage[]): readonly TopicMessage[] => {
  const first = new Map<string, TopicMessage>();
  for (const message of messages) if (!first.has(idOf(message))) first.set(idOf(message), message);
  return [...first.values()];
};

/** The versions of each stream, in the order in which they came. */
export const versionsByKey = (messages: readonly TopicMessage[]): ReadonlyMap<string, readonly number[]> => {
  const streams = Map.groupBy(messages, ({ key }) => key ?? '');
  return new Map([...streams].map(([key, all]) => [key, all.map(({ headers }) => Number(headers['ce_version']))]));
};

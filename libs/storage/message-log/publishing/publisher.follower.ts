import { requireOpenSession, type Follower } from '#storage/event-store';
import type { TopicSettings } from '../topics/topic-definition.js';
import type { KafkaPublisher } from './kafka-publisher.js';

/** Its checkpoint is the position up to which the topics have all events. */
export const PUBLISHER = 'publisher';

/**
 * Returns the follower that publishes the log to Kafka, from its first event. While the brokers are down, the runner
 * retries the batch. After a failure it creates topics that are missing, because someone can delete them at any time.
 */
export const createPublisherFollower = (
  kafka: KafkaPublisher,
  topics: readonly string[],
  settings: TopicSettings,
): Follower => {
  let prepared = false;
  return {
    name: PUBLISHER,
    // A batch is a transaction, which costs the same for each number of events.
    batch: 2_000,
    tables: [],
    follow: async (events, session) => {
      if (!prepared) await kafka.ensureTopics(topics, settings);
      prepared = false;
      await kafka.publish(events, () => requireOpenSession(session));
      prepared = true;
      return [];
    },
  };
};

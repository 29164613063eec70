import type { Follower } from '#event-store';
import type { TopicSettings } from '../topics/topic-definition.js';
import type { KafkaPublisher } from './kafka-publisher.js';

/**
 * Returns the follower that publishes the log to Kafka, from its first event. While the brokers are down, the runner
 * retries the batch.
 */
export const createPublisherFollower = (
  kafka: KafkaPublisher,
  topics: readonly string[],
  settings: TopicSettings,
): Follower => {
  let prepared = false;
  return {
    name: 'publisher',
    batch: 500,
    tables: [],
    follow: async (events) => {
      if (!prepared) await kafka.ensureTopics(topics, settings);
      prepared = true;
      await kafka.publish(events);
      return [];
    },
  };
};

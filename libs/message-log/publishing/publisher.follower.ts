import type { Follower } from '#event-store';
import type { KafkaPublisher } from './kafka-publisher.js';

/** Publishes the log to Kafka, from its first event on. Brokers away: the runner comes again with the same batch. */
export const createPublisherFollower = (kafka: KafkaPublisher, topics: readonly string[]): Follower => {
  let prepared = false;
  return {
    name: 'publisher',
    batch: 500,
    tables: [],
    follow: async (events) => {
      if (!prepared) await kafka.ensureTopics(topics);
      prepared = true;
      await kafka.publish(events);
      return [];
    },
  };
};

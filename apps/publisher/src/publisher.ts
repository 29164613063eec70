import { FollowerRunner } from '#event-store';
import { KafkaLog, publisherFollower, topicsOf } from '#message-log';
import type { House } from '../../house.js';
import { registry } from '../../slices.js';

export type Running = { stop(): Promise<void> };

/** Publishes the log while brokers are configured; null where none are. */
export const openPublisher = ({ store, settings, logger }: House): Running | null => {
  if (!settings.kafka) return null;
  const { brokers, topicPrefix } = settings.kafka;
  const origin = { source: settings.publicUrl, prefix: topicPrefix };
  const kafka = new KafkaLog({ brokers, clientId: 'cadastre-publisher' }, registry, origin, logger);
  const runner = new FollowerRunner(store, publisherFollower(kafka, topicsOf(registry, topicPrefix)), logger);
  runner.start();
  return {
    stop: async () => {
      await runner.stop();
      await kafka.disconnect();
    },
  };
};

import type { KafkaSettings } from '#host';
import { FollowerRunner } from '#event-store';
import { createFactMessageHandler, FACTS_TOPIC } from '#facts';
import {
  TopicConsumer,
  KafkaPublisher,
  createPublisherFollower,
  buildSecurityOptions,
  toTopicName,
  listTopics,
  type KafkaConnection,
} from '#message-log';
import type { Runtime } from '../../runtime.js';
import { eventRegistry } from '../../modules.js';

export type RunningPublisher = { stop(): Promise<void> };

/** Publishes the log and records facts of other services. Returns null if no brokers are configured. */
export const openPublisher = (runtime: Runtime): RunningPublisher | null => {
  const { store, settings, logger } = runtime;
  if (!settings.kafka) return null;
  const { brokers, topicPrefix, topics, cloudEvents } = settings.kafka;
  const { sasl, tls } = settings.kafka;
  if (sasl && !tls) {
    const { mechanism } = sasl;
    logger.warn({ mechanism }, 'the Kafka credentials are sent without encryption; set KAFKA_TLS=on');
  }
  const connection = { brokers, clientId: 'cadastre-publisher', ...buildSecurityOptions(settings.kafka) };
  const kafka = new KafkaPublisher(
    connection,
    eventRegistry,
    { source: settings.publicUrl, prefix: topicPrefix, mode: cloudEvents },
    logger,
  );
  const runner = new FollowerRunner(
    store,
    createPublisherFollower(kafka, listTopics(eventRegistry, topicPrefix), topics),
    logger,
  );
  runner.start();
  const consumer = openFactConsumer(runtime, { ...connection, clientId: 'cadastre-facts' }, settings.kafka);
  return {
    stop: async () => {
      await Promise.all([runner.stop(), consumer?.stop()]);
      await kafka.disconnect();
    },
  };
};

/** The self-hosted edition has no audit trail, so facts stay in their topic. */
const openFactConsumer = (
  { store, settings, logger }: Runtime,
  connection: KafkaConnection,
  { topicPrefix, topics }: KafkaSettings,
) => {
  if (settings.edition === 'self-hosted') return null;
  const topic = toTopicName({ topic: FACTS_TOPIC }, topicPrefix);
  const consumer = new TopicConsumer(
    connection,
    { name: topic, settings: topics },
    createFactMessageHandler(store, topic, settings.factsLimit),
    logger,
  );
  consumer.start();
  return consumer;
};

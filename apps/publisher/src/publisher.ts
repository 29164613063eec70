import { FollowerRunner } from '#event-store';
import { factsTaker, FACTS_TOPIC } from '#facts';
import {
  Inbox,
  KafkaLog,
  publisherFollower,
  securityOptions,
  topicOf,
  topicsOf,
  type KafkaConnection,
} from '#message-log';
import type { House } from '../../house.js';
import { registry } from '../../slices.js';

export type Running = { stop(): Promise<void> };

/** Publishes the log and records facts of other services, while brokers are configured; null where none are. */
export const openPublisher = (house: House): Running | null => {
  const { store, settings, logger } = house;
  if (!settings.kafka) return null;
  const { brokers, topicPrefix } = settings.kafka;
  const { sasl, tls } = settings.kafka;
  if (sasl && !tls) {
    const { mechanism } = sasl;
    logger.warn({ mechanism }, 'the Kafka credentials are sent without encryption; set KAFKA_TLS=on');
  }
  const connection = { brokers, clientId: 'cadastre-publisher', ...securityOptions(settings.kafka) };
  const kafka = new KafkaLog(connection, registry, { source: settings.publicUrl, prefix: topicPrefix }, logger);
  const runner = new FollowerRunner(store, publisherFollower(kafka, topicsOf(registry, topicPrefix)), logger);
  runner.start();
  const inbox = openFactsInbox(house, { ...connection, clientId: 'cadastre-facts' }, topicPrefix);
  return {
    stop: async () => {
      await Promise.all([runner.stop(), inbox?.stop()]);
      await kafka.disconnect();
    },
  };
};

/** The self-hosted edition has no audit trail, and so nothing to tell in one: facts stay in their topic. */
const openFactsInbox = ({ store, settings, logger }: House, connection: KafkaConnection, prefix: string) => {
  if (settings.edition === 'self-hosted') return null;
  const topic = topicOf({ topic: FACTS_TOPIC }, prefix);
  const inbox = new Inbox(connection, topic, factsTaker(store, topic, settings.factsLimit), logger);
  inbox.start();
  return inbox;
};

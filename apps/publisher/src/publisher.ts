import type { KafkaSettings } from '#platform/settings';
import { ALL_ORGANIZATIONS } from '#organizations/organizations';
import { ScheduledJobRunner } from '#platform/postgres';
import { FollowerRunner } from '#storage/event-store';
import { createCheckpointTopicJob } from '#activity/audit-trail-log';
import { createFactMessageHandler, FACTS_TOPIC } from '#activity/facts';
import {
  TopicConsumer,
  KafkaPublisher,
  MessageSender,
  createPublisherFollower,
  buildSecurityOptions,
  toTopicName,
  listTopics,
  type KafkaConnection,
} from '#storage/message-log';
import { createStateTopicsFollower } from '#api/state-topics';
import { createJobRecorder } from '#operations/site';
import type { Runtime } from '../../runtime.js';
import { eventRegistry } from '../../modules.js';
import { publishedResources } from '../../published-resources.js';

export type RunningPublisher = { stop(): Promise<void> };

/** Publishes the log, the latest documents and the checkpoints of audit trails, and records facts of other services. Returns null if no brokers are configured. */
export const openPublisher = (runtime: Runtime): RunningPublisher | null => {
  const { store, settings, logger } = runtime;
  if (!settings.kafka) return null;
  const { brokers, topicPrefix, topics, cloudEvents } = settings.kafka;
  warnOfPlainCredentials(settings.kafka, logger);
  const connection = { brokers, clientId: 'cadastre-publisher', ...buildSecurityOptions(settings.kafka) };
  const origin = { source: settings.publicUrl, prefix: topicPrefix, mode: cloudEvents };
  const kafka = new KafkaPublisher(connection, eventRegistry, origin, logger);
  const stateConnection = { ...connection, clientId: 'cadastre-state-topics' };
  const sender = new MessageSender(stateConnection, logger, `${topicPrefix}.state-topics`);
  const resources = { resources: publishedResources, organizations: ALL_ORGANIZATIONS, projections: store.projections };
  const log = new FollowerRunner(
    store,
    createPublisherFollower(kafka, listTopics(eventRegistry, topicPrefix), topics),
    logger,
  );
  const documents = new FollowerRunner(
    store,
    createStateTopicsFollower({ ...resources, sender, origin, settings: topics, clock: runtime.clock }),
    logger,
    { yieldsTo: log },
  );
  const checkpoints = openCheckpointSender(
    runtime,
    { ...connection, clientId: 'cadastre-checkpoints' },
    settings.kafka,
  );
  const runners = [log, documents, ...(checkpoints ? [checkpoints.runner] : [])];
  for (const runner of runners) runner.start();
  const consumer = openFactConsumer(runtime, { ...connection, clientId: 'cadastre-facts' }, settings.kafka);
  return {
    stop: async () => {
      await Promise.all([...runners.map((runner) => runner.stop()), consumer?.stop()]);
      await Promise.all([kafka.disconnect(), sender.disconnect(), checkpoints?.sender.disconnect()]);
    },
  };
};

const warnOfPlainCredentials = ({ sasl, tls }: KafkaSettings, logger: Runtime['logger']): void => {
  if (!sasl || tls) return;
  const { mechanism } = sasl;
  logger.warn({ mechanism }, 'the Kafka credentials are sent without encryption; set KAFKA_TLS=on');
};

/** The self-hosted edition has no audit trail that the checkpoints could prove. */
const openCheckpointSender = (
  { store, settings, clock, logger }: Runtime,
  connection: KafkaConnection,
  { topicPrefix: prefix, topics }: KafkaSettings,
) => {
  if (settings.edition === 'self-hosted') return null;
  const { database } = store;
  const sender = new MessageSender(connection, logger, `${prefix}.checkpoints`);
  const origin = { source: settings.publicUrl, prefix };
  const job = createCheckpointTopicJob({ database, sender, origin, settings: topics });
  return { sender, runner: new ScheduledJobRunner(database, job, logger, createJobRecorder(database, clock)) };
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

import {
  applyTopicSettings,
  buildSecurityOptions,
  createKafkaClient,
  findTopicDifferences,
  listTopics,
  toTopicName,
  type NamedTopic,
  type TopicDifference,
} from '#storage/message-log';
import { CHECKPOINTS_TOPIC } from '#activity/audit-trail-log';
import { FACTS_TOPIC } from '#activity/facts';
import { StartupError } from '#platform/host';
import type { KafkaSettings, Settings } from '#platform/settings';
import { listStateTopics, STATE_TOPICS } from '#api/state-topics';
import { eventRegistry } from './modules.js';
import { publishedResources } from './published-resources.js';
import type { ProcessLogger } from './runtime.js';

/** Throws if the site publishes nothing. */
export const requireKafka = ({ kafka }: Settings): KafkaSettings => {
  if (!kafka) throw new StartupError('KAFKA_BROKERS is not set: this site publishes nothing');
  return kafka;
};

/** Returns the followers of the publisher; none if the site publishes nothing. */
export const listPublishers = ({ kafka }: Settings): readonly { readonly name: string }[] =>
  kafka ? [{ name: 'publisher' }, { name: STATE_TOPICS }] : [];

/** Returns the topics that the publisher writes and reads. The self-hosted edition has no audit trail. */
export const listSiteTopics = ({ edition }: Settings, prefix: string): readonly NamedTopic[] => {
  const facts = toTopicName({ topic: FACTS_TOPIC }, prefix);
  const isTrailed = edition !== 'self-hosted';
  const checkpoints = isTrailed ? [toTopicName({ topic: CHECKPOINTS_TOPIC }, prefix)] : [];
  const inbound = isTrailed ? [facts, `${facts}.rejected`] : [];
  return [
    ...listTopics(eventRegistry, prefix).map((name) => ({ name, use: 'log' as const })),
    ...listStateTopics(publishedResources, prefix).map((name) => ({ name, use: 'state' as const })),
    ...checkpoints.map((name) => ({ name, use: 'log' as const })),
    ...inbound.map((name) => ({ name, use: 'inbound' as const })),
  ];
};

const connect = (kafka: KafkaSettings, logger: ProcessLogger) =>
  createKafkaClient({ brokers: kafka.brokers, clientId: 'cadastre-topics', ...buildSecurityOptions(kafka) }, logger);

/** Returns how the topics of the brokers differ from the settings. Rejects if no broker responds. */
export const compareSiteTopics = (settings: Settings, logger: ProcessLogger): Promise<readonly TopicDifference[]> => {
  const kafka = requireKafka(settings);
  return findTopicDifferences(connect(kafka, logger), listSiteTopics(settings, kafka.topicPrefix), kafka.topics);
};

/** Creates missing topics and changes the configuration of the others. Returns the differences that remain. */
export const applySiteTopics = (settings: Settings, logger: ProcessLogger): Promise<readonly TopicDifference[]> => {
  const kafka = requireKafka(settings);
  return applyTopicSettings(connect(kafka, logger), listSiteTopics(settings, kafka.topicPrefix), kafka.topics, logger);
};

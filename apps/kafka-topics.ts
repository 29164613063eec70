import { createKafkaClient, buildSecurityOptions, toTopicName, listTopics } from '#message-log';
import type { Settings } from '#host';
import type { EventRegistry } from '#kernel';
import type { ProcessLogger } from './runtime.js';

export type TopicInventory = { readonly existing: ReadonlySet<string>; readonly expected: readonly string[] };

/** Returns the topics of the brokers, and those that the publisher writes and reads. Rejects if no broker responds. */
export const listKafkaTopics = async (
  { kafka, edition }: Settings,
  registry: EventRegistry,
  factsTopic: string,
  logger: ProcessLogger,
): Promise<TopicInventory> => {
  if (!kafka) throw new Error('KAFKA_BROKERS is not set');
  const { brokers, topicPrefix } = kafka;
  const admin = createKafkaClient(
    { brokers, clientId: 'cadastre-doctor', ...buildSecurityOptions(kafka) },
    logger,
  ).admin();
  try {
    await admin.connect();
    const facts = toTopicName({ topic: factsTopic }, topicPrefix);
    return {
      existing: new Set(await admin.listTopics()),
      expected: [
        ...listTopics(registry, topicPrefix),
        ...(edition === 'self-hosted' ? [] : [facts, `${facts}.rejected`]),
      ],
    };
  } finally {
    await admin.disconnect();
  }
};

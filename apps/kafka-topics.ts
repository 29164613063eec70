import { kafkaClient, securityOptions, topicOf, topicsOf } from '#message-log';
import type { Settings } from '#host';
import type { EventRegistry } from '#kernel';
import type { Logger } from './house.js';

export type KafkaTopics = { readonly existing: ReadonlySet<string>; readonly expected: readonly string[] };

/** Asks the brokers for their topics, beside those that the publisher writes and reads. Rejects if no broker answers. */
export const kafkaTopics = async (
  { kafka, edition }: Settings,
  registry: EventRegistry,
  factsTopic: string,
  logger: Logger,
): Promise<KafkaTopics> => {
  if (!kafka) throw new Error('KAFKA_BROKERS is not set');
  const { brokers, topicPrefix } = kafka;
  const admin = kafkaClient({ brokers, clientId: 'cadastre-doctor', ...securityOptions(kafka) }, logger).admin();
  try {
    await admin.connect();
    const facts = topicOf({ topic: factsTopic }, topicPrefix);
    return {
      existing: new Set(await admin.listTopics()),
      expected: [
        ...topicsOf(registry, topicPrefix),
        ...(edition === 'self-hosted' ? [] : [facts, `${facts}.rejected`]),
      ],
    };
  } finally {
    await admin.disconnect();
  }
};

import { createKafkaClient } from '#message-log';
import { quiet } from '../silent-logger.js';

/** 2.5 s on an idle machine; 14 s were seen under load. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/**
 * Resolves when an admin client sees the broker and it keeps groups of consumers; rejects with what `failure` tells as
 * soon as it tells something.
 */
export const waitForBroker = async (
  brokers: readonly string[],
  failure: () => string | null = () => null,
): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const refusal = await ask(brokers);
    if (!refusal) return;
    const reason = failure();
    if (reason !== null) throw new Error(reason);
    if (Date.now() > deadline) throw new Error('the Kafka broker did not answer within 60 s', { cause: refusal });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/** What is in the way of an answer; null where there is one. */
const ask = async (brokers: readonly string[]): Promise<unknown> => {
  const admin = createKafkaClient({ brokers, clientId: 'test-support' }, quiet).admin({ retry: { retries: 1 } });
  try {
    await admin.connect();
    // The first who asks for a group has the broker make the topic that groups are kept in. Where that takes more than
    // some two seconds a consumer of kafkajs' gives up for good: no test is to be the first.
    await admin.describeGroups(['anybody']);
    const cluster = await admin.describeCluster();
    return cluster.brokers.length > 0 ? null : new Error('no broker has registered');
  } catch (error) {
    return error;
  } finally {
    await admin.disconnect();
  }
};

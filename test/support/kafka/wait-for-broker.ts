import { createKafkaClient } from '#storage/message-log';
import { quiet } from '../silent-logger.js';

/** The start takes 2.5 s on an idle machine. Under load up to 14 s were measured. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/**
 * Resolves when an admin client sees all brokers and they accept consumer groups. Rejects as soon as `failure` returns a
 * text.
 */
export const waitForBroker = async (
  brokers: readonly string[],
  failure: () => string | null = () => null,
): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const refusal = await findObstacle(brokers);
    if (!refusal) return;
    const reason = failure();
    if (reason !== null) throw new Error(reason);
    if (Date.now() > deadline) throw new Error('the Kafka broker did not answer within 60 s', { cause: refusal });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/** Returns the reason why the broker is not ready, or null if it is. */
const findObstacle = async (brokers: readonly string[]): Promise<unknown> => {
  const admin = createKafkaClient({ brokers, clientId: 'test-support' }, quiet).admin({ retry: { retries: 1 } });
  try {
    await admin.connect();
    // The first request for a group makes the broker create the topic for groups. If that takes more than about two
    // seconds, a consumer of kafkajs fails for good. This request comes before those of any test.
    await admin.describeGroups(['anybody']);
    const cluster = await admin.describeCluster();
    const { length } = cluster.brokers;
    return length === brokers.length ? null : new Error(`${length} of ${brokers.length} brokers have registered`);
  } catch (error) {
    return error;
  } finally {
    await admin.disconnect();
  }
};

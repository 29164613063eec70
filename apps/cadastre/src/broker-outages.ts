import { StartupError } from '#platform/host';
import type { KafkaSettings } from '#platform/settings';
import { findOutageReason } from '#storage/message-log';

/** Runs work that needs the brokers. Rejects with a message for the operator if no broker responds. */
export const withBrokers = async <T>({ brokers }: KafkaSettings, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const reason = findOutageReason(error);
    if (reason === null) throw error;
    throw new StartupError(
      `KAFKA_BROKERS: no broker answered at ${brokers.join(', ')} (${reason}); start the brokers, or correct KAFKA_BROKERS`,
    );
  }
};

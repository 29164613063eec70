import type { Kafka, KafkaConfig, LogEntry } from 'kafkajs';
import type { Logger } from '#platform/kernel';
import { loadKafkajs } from './kafkajs.js';
import { patchPartitionGroups } from './partition-groups.patch.js';
import { patchProduceEncoding } from './produce-encoding.patch.js';
import { patchRequestQueue } from './request-queue.patch.js';

export type KafkaConnection = Pick<KafkaConfig, 'ssl' | 'sasl'> & {
  /** `host:port` of some of the brokers, which name all others. */
  readonly brokers: readonly string[];
  /** Name of this process in the brokers' logs and quotas. */
  readonly clientId: string;
};

/**
 * A dead broker mostly refuses a connection at once. This limits the wait for a broker that drops packets. kafkajs: 1
 * s.
 */
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Limits how long a broker that keeps the connection open without responding can delay the publisher. kafkajs: 30 s.
 */
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * kafkajs retries for about 1.5 s, which is enough for a moved leader. The caller sees, counts and retries longer
 * failures. Set explicitly, because kafkajs retries 15 times if NODE_ENV is `test`.
 */
const RETRY = { initialRetryTime: 100, multiplier: 2, factor: 0.2, maxRetryTime: 1_000, retries: 4 };

/** Creates a kafkajs client. All clients are created here, so that none uses kafkajs without its patches. */
export const createKafkaClient = ({ brokers, clientId, ssl, sasl }: KafkaConnection, logger: Logger): Kafka => {
  patchRequestQueue();
  patchProduceEncoding();
  patchPartitionGroups();
  const { Kafka, logLevel } = loadKafkajs();
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logKafkaEntry(logger, entry),
  });
};

/**
 * kafkajs logs an error for each refused connection and each retry, dozens a second while a broker is down, and rejects
 * in the end. The caller logs that rejection once, so errors are logged at the level debug here. Warnings are logged as
 * such, except one: an idempotent producer warns at each start if its retries are limited, as ours are on purpose
 * (KafkaPublisher).
 */
const logKafkaEntry = (logger: Logger, { level, namespace, log: { message, ...details } }: LogEntry): void => {
  const context = { ...details, kafkajs: namespace };
  if (level === loadKafkajs().logLevel.WARN && !message.startsWith(LIMITED_RETRIES)) logger.warn(context, message);
  else logger.debug(context, message);
};

const LIMITED_RETRIES = 'Limiting retries for the idempotent producer';

import { Kafka, logLevel, type KafkaConfig, type LogEntry } from 'kafkajs';
import type { Logger } from '#kernel';
import { patchRequestQueue } from './request-queue.patch.js';

export type KafkaConnection = Pick<KafkaConfig, 'ssl' | 'sasl'> & {
  /** `host:port` of some of the brokers; they name the others. */
  readonly brokers: readonly string[];
  /** How the brokers' own logs and quotas call this process. */
  readonly clientId: string;
};

/** A dead broker's address mostly refuses at once; one that swallows packets is given up after this. kafkajs: 1 s. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a broker that keeps the connection but says nothing may hold up the publisher. kafkajs: 30 s. */
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * kafkajs tries again by itself for about 1.5 s, which rides out a moved leader; what takes longer is for the caller to
 * see, to count and to try again. Spelled out, because kafkajs' own defaults differ where NODE_ENV is `test`: 15 times.
 */
const RETRY = { initialRetryTime: 100, multiplier: 2, factor: 0.2, maxRetryTime: 1_000, retries: 4 };

/** The only way to a kafkajs client here, so that no connection is made without the mended queue. */
export const createKafkaClient = ({ brokers, clientId, ssl, sasl }: KafkaConnection, logger: Logger): Kafka => {
  patchRequestQueue();
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
 * kafkajs logs an error for each refused connection and each retry, dozens a second while a broker is away, and rejects
 * in the end: the caller tells of that once, so its errors are for debugging. Its warnings are told nowhere else, but
 * for one, made at each start of an idempotent producer that does not retry for ever: ours is not meant to (KafkaPublisher).
 */
const logKafkaEntry = (logger: Logger, { level, namespace, log: { message, ...details } }: LogEntry): void => {
  const context = { ...details, kafkajs: namespace };
  if (level === logLevel.WARN && !message.startsWith(LIMITED_RETRIES)) logger.warn(context, message);
  else logger.debug(context, message);
};

const LIMITED_RETRIES = 'Limiting retries for the idempotent producer';

import { stdSerializers } from 'pino';

/** Codes of sockets and of Postgres for a server that is unreachable, starts, stops or has no connection left. */
const OUTAGE_CODE =
  /^(?:ECONN[A-Z]+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|57P0\d|08\d{3}|53300)$/;

type Failure = Error & { readonly code?: unknown; readonly retriable?: unknown };

/** kafkajs also marks responses of a new broker as retriable, such as a topic without a leader. */
const isOutage = ({ name, code, retriable }: Failure): boolean =>
  (typeof code === 'string' && OUTAGE_CODE.test(code)) || (name.startsWith('KafkaJS') && retriable === true);

/** Returns an error and its causes. */
const listCauses = (error: unknown): readonly Failure[] =>
  error instanceof Error ? [error, ...listCauses(error.cause)] : [];

/**
 * Returns the fields of an error in a log line. An outage of Postgres or Kafka is expected, so its line has no stack
 * traces: they would only name the code that waits for the server.
 */
export const serializeError = (error: unknown): unknown => {
  const causes = listCauses(error);
  const outage = causes.find(isOutage);
  if (outage === undefined) return stdSerializers.err(error as Error);
  // The error of a host with several addresses has a code and no message.
  const messages = causes.map(({ message, code }) => message || String(code));
  return { type: causes[0]?.name, message: [...new Set(messages)].join(': '), code: outage.code };
};

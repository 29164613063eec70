/** Names of errors of kafkajs if no broker responds. */
const OUTAGES: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSBrokerNotFound',
  'KafkaJSRequestTimeoutError',
]);

/** Returns the reason if an error or one of its causes says that no broker responds; null for other errors. */
export const findOutageReason = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  return OUTAGES.has(error.name) ? error.message : findOutageReason(error.cause);
};

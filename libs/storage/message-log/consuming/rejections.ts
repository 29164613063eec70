import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { OutgoingMessage } from '../publishing/outgoing-message.js';

const REASON_MAX = 1_000;

/** Error types of brokers for a message that exceeds the limit of its topic or segment. */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];

type RecordLocation = { readonly topic: string; readonly partition: number; readonly offset: string };

/** A rejected message in several forms. The first one that the topic accepts is sent. */
export type RejectionMessages = readonly [OutgoingMessage, ...OutgoingMessage[]];

/**
 * Builds the forms of a rejected message: complete with the reason and its location; without its value; without
 * anything from the sender. The timestamp is not copied: the broker could delete a message with an old timestamp at
 * once.
 */
export const buildRejection = (
  { key, value, headers }: Pick<KafkaMessage, 'key' | 'value' | 'headers'>,
  reason: string,
  location: RecordLocation,
  to: string,
): RejectionMessages => {
  const added: IHeaders = {
    rejected_reason: reason.slice(0, REASON_MAX),
    rejected_topic: location.topic,
    rejected_partition: String(location.partition),
    rejected_offset: location.offset,
  };
  const complete = { topic: to, key, value, headers: { ...headers, ...added } };
  return [complete, { ...complete, value: null }, { ...complete, key: null, value: null, headers: added }];
};

/** Returns whether the broker refused a message for its size. kafkajs wraps errors that it does not retry. */
export const isTooLarge = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  return ('type' in error && TOO_LARGE.includes(String(error.type))) || isTooLarge(error.cause);
};

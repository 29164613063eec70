import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { OutgoingMessage } from '../publishing/producer.js';

const REASON_MAX = 1_000;

/** What brokers call a message that is larger than its topic, or a segment of that, may hold. */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];

type RecordLocation = { readonly topic: string; readonly partition: number; readonly offset: string };

/** A message that is put aside, in several forms: the one to be sent is the first that the topic takes. */
export type RejectionMessages = readonly [OutgoingMessage, ...OutgoingMessage[]];

/**
 * As it came, with the reason and the place; or without its value; or without anything that the sender chose. Not with its
 * time, which may be of a year ago: what is put aside today would be too old to be kept.
 */
export const buildRejection = (
  { key, value, headers }: Pick<KafkaMessage, 'key' | 'value' | 'headers'>,
  reason: string,
  place: RecordLocation,
  to: string,
): RejectionMessages => {
  const added: IHeaders = {
    rejected_reason: reason.slice(0, REASON_MAX),
    rejected_topic: place.topic,
    rejected_partition: String(place.partition),
    rejected_offset: place.offset,
  };
  const whole = { topic: to, key, value, headers: { ...headers, ...added } };
  return [whole, { ...whole, value: null }, { ...whole, key: null, value: null, headers: added }];
};

/** kafkajs wraps what it does not try again. */
export const isTooLarge = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  return ('type' in error && TOO_LARGE.includes(String(error.type))) || isTooLarge(error.cause);
};

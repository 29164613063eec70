import type { OutboundMessage } from './cloud-event.js';

/**
 * kafkajs makes one record batch a partition of whatever it is given, and brokers refuse a batch of more than
 * `max.message.bytes`, 1,048,588 unless told otherwise. A thousand events of one busy stream would never get through,
 * however often they are sent again: a request stays below that on its own.
 */
export const REQUEST_BYTES = 900_000;

/** The messages in requests that a broker takes, in their order. One that is too large by itself gets its own. */
export const splitIntoRequests = (messages: readonly OutboundMessage[], limit = REQUEST_BYTES): OutboundMessage[][] => {
  const requests: OutboundMessage[][] = [];
  let room = 0;
  for (const message of messages) {
    const size = bytesOf(message);
    const last = requests.at(-1);
    if (last && size <= room) {
      last.push(message);
      room -= size;
    } else {
      requests.push([message]);
      room = limit - size;
    }
  }
  return requests;
};

/** Lengths, offset and time stamp of a record and its fields are variable-length numbers; this is more than they take. */
const RECORD_OVERHEAD = 32;
const HEADER_OVERHEAD = 4;

const bytesOf = ({ key, value, headers }: OutboundMessage): number => {
  let bytes = RECORD_OVERHEAD + Buffer.byteLength(key) + Buffer.byteLength(value);
  for (const name of Object.keys(headers)) {
    bytes += HEADER_OVERHEAD + name.length + Buffer.byteLength(headers[name] ?? '');
  }
  return bytes;
};

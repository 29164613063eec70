import type { OutboundMessage } from './cloud-event.js';

/**
 * kafkajs creates one record batch for each partition of a request, and brokers refuse batches above
 * `max.message.bytes` (default 1,048,588). A thousand events of one busy stream could never be sent, so each request
 * stays below this limit.
 */
export const REQUEST_BYTES = 900_000;

/**
 * Splits messages into requests that a broker accepts, in order. A message above the limit gets a request of its own.
 */
export const splitIntoRequests = (messages: readonly OutboundMessage[], limit = REQUEST_BYTES): OutboundMessage[][] => {
  const requests: OutboundMessage[][] = [];
  let remaining = 0;
  for (const message of messages) {
    const size = bytesOf(message);
    const last = requests.at(-1);
    if (last && size <= remaining) {
      last.push(message);
      remaining -= size;
    } else {
      requests.push([message]);
      remaining = limit - size;
    }
  }
  return requests;
};

/** Lengths, offset and timestamp of a record and its fields are variable-length numbers. These are upper bounds. */
const RECORD_OVERHEAD = 32;
const HEADER_OVERHEAD = 4;

const bytesOf = ({ key, value, headers }: OutboundMessage): number => {
  let bytes = RECORD_OVERHEAD + Buffer.byteLength(key) + Buffer.byteLength(value ?? '');
  for (const name of Object.keys(headers)) {
    bytes += HEADER_OVERHEAD + name.length + Buffer.byteLength(headers[name] ?? '');
  }
  return bytes;
};

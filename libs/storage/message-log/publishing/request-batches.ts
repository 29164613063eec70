import type { IHeaders } from 'kafkajs';
import type { OutgoingMessage } from './outgoing-message.js';

/**
 * kafkajs creates one record batch for each partition of a request, and brokers refuse batches above
 * `max.message.bytes` (default 1,048,588). A thousand events of one busy stream could never be sent, so each partition
 * of a request stays below this limit.
 */
const PARTITION_BYTES = 900_000;

/** Limits the memory of a request. Brokers refuse requests above `socket.request.max.bytes` (default 100 MB). */
const REQUEST_BYTES = 8_000_000;

/**
 * Splits messages into requests that a broker accepts, in order. A message above the limit gets a request of its own.
 * `partitionOf` returns an identifier of the message's partition.
 */
export const splitIntoRequests = <M extends OutgoingMessage>(
  messages: readonly M[],
  partitionOf: (message: M) => string,
): M[][] => {
  const requests: M[][] = [];
  const partitions = new Map<string, number>();
  let bytes = 0;
  for (const message of messages) {
    const size = bytesOf(message);
    const partition = partitionOf(message);
    const inPartition = (partitions.get(partition) ?? 0) + size;
    const last = requests.at(-1);
    if (last && inPartition <= PARTITION_BYTES && bytes + size <= REQUEST_BYTES) {
      last.push(message);
      partitions.set(partition, inPartition);
      bytes += size;
    } else {
      requests.push([message]);
      partitions.clear();
      partitions.set(partition, size);
      bytes = size;
    }
  }
  return requests;
};

/** Lengths, offset and timestamp of a record and its fields are variable-length numbers. These are upper bounds. */
const RECORD_OVERHEAD = 32;
const HEADER_OVERHEAD = 4;

const bytesOf = ({ key, value, headers }: OutgoingMessage): number => {
  let bytes = RECORD_OVERHEAD + Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '');
  for (const name of Object.keys(headers)) bytes += bytesOfHeader(name, headers[name]);
  return bytes;
};

const bytesOfHeader = (name: string, value: IHeaders[string]): number => {
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + bytesOfHeader(name, one), 0);
  return HEADER_OVERHEAD + Buffer.byteLength(name) + Buffer.byteLength(value ?? '');
};

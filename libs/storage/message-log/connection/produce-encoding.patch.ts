import { createRequire } from 'node:module';
import { ByteWriter, RecordBatch, type BatchProducer, type ProducedMessage } from './record-batch.js';

/** The arguments of kafkajs 2.2.4 for a Produce request. */
export type ProduceArguments = {
  readonly acks: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly transactionalId?: string | null;
  /** A number or a Long. */
  readonly producerId?: { toString(): string };
  readonly producerEpoch?: number;
  readonly compression?: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly firstSequence?: number;
      readonly messages: readonly ProducedMessage[];
    }[];
  }[];
};

/** The members of kafkajs' Encoder that senders of a request use. */
type RequestEncoder = { buf: Buffer; offset: number; readonly buffer: Buffer; size(): number };

type ProduceRequest = { encode: () => Promise<RequestEncoder> };

export type CreateProduceRequest = (request: ProduceArguments) => ProduceRequest;

const REQUEST_PATH = 'kafkajs/src/protocol/requests/produce/v3/request.js';
const ENCODER_PATH = 'kafkajs/src/protocol/encoder.js';
const CHECKSUM_PATH = 'kafkajs/src/protocol/recordBatch/crc32C/crc32C.js';

const INT16 = 2;
const INT32 = 4;

const load = createRequire(import.meta.url);

const sizeOfString = (text: string): number => INT16 + Buffer.byteLength(text);

const sizeOfTopic = (topic: string, batches: readonly { readonly batch: RecordBatch }[]): number =>
  batches.reduce((sum, { batch }) => sum + INT32 + INT32 + batch.size, sizeOfString(topic) + INT32);

/** Returns the bytes of a Produce request of version 3 to 8, without compression: https://kafka.apache.org/protocol#The_Messages_Produce */
const encode = (request: ProduceArguments, checksum: BatchProducer['checksum']): Buffer => {
  const { acks, timeout, transactionalId = null, producerId = -1, producerEpoch = 0, topicData } = request;
  const now = Date.now();
  const topics = topicData.map(({ topic, partitions }) => {
    const batches = partitions.map(({ partition, firstSequence = 0, messages }) => ({
      partition,
      batch: new RecordBatch(messages, firstSequence, now),
    }));
    return { topic, batches, size: sizeOfTopic(topic, batches) };
  });
  const id = BigInt(producerId.toString());
  const producer = { id, epoch: producerEpoch, isTransactional: transactionalId !== null, checksum };

  const size = (transactionalId === null ? INT16 : sizeOfString(transactionalId)) + INT16 + INT32 + INT32;
  const writer = new ByteWriter(topics.reduce((sum, topic) => sum + topic.size, size));
  if (transactionalId === null) writer.writeInt16(-1);
  else writer.writeString(transactionalId);
  writer.writeInt16(acks);
  writer.writeInt32(timeout);
  writer.writeInt32(topics.length);
  for (const { topic, batches } of topics) {
    writer.writeString(topic);
    writer.writeInt32(batches.length);
    for (const { partition, batch } of batches) {
      writer.writeInt32(partition);
      writer.writeInt32(batch.size);
      batch.write(writer, producer);
    }
  }
  return writer.buffer;
};

let released: CreateProduceRequest | null = null;

/**
 * Makes kafkajs write a Produce request into one buffer of its exact size. kafkajs 2.2.4 allocates and clears 512 bytes for
 * each record and each of its headers, and copies each record six times. With the headers of an event, that was a third of
 * the publisher's CPU time. Call it before the first connection, because kafkajs loads the request with the first one
 * that it sends.
 */
export const patchProduceEncoding = (): void => {
  if (released) return;
  const { prototype } = load(ENCODER_PATH) as { readonly prototype: RequestEncoder };
  const checksum = load(CHECKSUM_PATH) as BatchProducer['checksum'];
  const create = load(REQUEST_PATH) as CreateProduceRequest;
  const module = load.cache[load.resolve(REQUEST_PATH)];
  if (!module || typeof prototype.size !== 'function' || typeof checksum !== 'function')
    throw new Error(
      'kafkajs encodes requests in another way: see libs/storage/message-log/connection/produce-encoding.patch.ts',
    );
  released = create;
  const createPatched: CreateProduceRequest = (request) => {
    const original = create(request);
    // Cadastre compresses nothing.
    if (request.compression) return original;
    return {
      ...original,
      encode: () => {
        const buf = encode(request, checksum);
        return Promise.resolve(Object.assign(Object.create(prototype) as RequestEncoder, { buf, offset: buf.length }));
      },
    };
  };
  module.exports = createPatched;
};

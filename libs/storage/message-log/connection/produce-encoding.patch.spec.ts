import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { patchProduceEncoding, type CreateProduceRequest, type ProduceArguments } from './produce-encoding.patch.js';
import type { ProducedMessage } from './record-batch.js';

const require = createRequire(import.meta.url);
const PATH = 'kafkajs/src/protocol/requests/produce/v3/request.js';
patchProduceEncoding();
const createPatched = require(PATH) as CreateProduceRequest;
delete require.cache[require.resolve(PATH)];
const createInKafkajs = require(PATH) as CreateProduceRequest;
(require.cache[require.resolve(PATH)] as NodeJS.Module).exports = createPatched;
const Long = require('kafkajs/src/utils/long.js') as { fromValue(value: string): { toString(): string } };

const bytes = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
);
const nullable = fc.option(bytes, { nil: null });
/** Texts with as many digits as present times, because kafkajs compares the texts. Events of a batch can be years apart. */
const timestamps = fc.integer({ min: 1e12, max: 9e12 }).map(String);
const messages: fc.Arbitrary<ProducedMessage> = fc.record(
  {
    timestamp: timestamps,
    key: nullable,
    value: nullable,
    headers: fc.dictionary(fc.string({ maxLength: 40 }), fc.oneof(bytes, fc.array(bytes, { maxLength: 3 }))),
  },
  { requiredKeys: ['timestamp'] },
);
const partitions = fc.record({
  partition: fc.nat({ max: 10_000 }),
  firstSequence: fc.nat({ max: 2 ** 31 - 1 }),
  messages: fc.array(messages, { minLength: 1, maxLength: 5 }),
});
const requests: fc.Arbitrary<ProduceArguments> = fc.record(
  {
    acks: fc.constantFrom(-1, 1),
    timeout: fc.nat({ max: 60_000 }),
    transactionalId: fc.option(fc.string({ unit: 'grapheme', minLength: 1 }), { nil: null }),
    producerId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((id) => Long.fromValue(String(id))),
    producerEpoch: fc.nat({ max: 32_767 }),
    topicData: fc.array(
      fc.record({ topic: fc.string({ maxLength: 249 }), partitions: fc.array(partitions, { maxLength: 3 }) }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['acks', 'timeout', 'topicData'] },
);

describe('requests that are sent to Kafka', () => {
  it('have the bytes that the released kafkajs gives them', async () => {
    expect(createPatched).not.toBe(createInKafkajs);
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const [patched, released] = await Promise.all([
          createPatched(request).encode(),
          createInKafkajs(request).encode(),
        ]);
        expect(patched.buffer.equals(released.buffer)).toBe(true);
        expect(patched.size()).toBe(released.size());
      }),
    );
  });

  it('are compressed by kafkajs if they are compressed', async () => {
    const topicData = [{ topic: 'lamps', partitions: [{ partition: 0, messages: [{ timestamp: '1000000000000' }] }] }];
    const request = { acks: -1, timeout: 1, compression: 1, topicData };
    const [patched, released] = await Promise.all(
      [createPatched(request), createInKafkajs(request)].map((r) => r.encode()),
    );
    expect(patched?.buffer).toEqual(released?.buffer);
  });

  it('have the present time if their messages have no time', async () => {
    const topicData = [{ topic: 'lamps', partitions: [{ partition: 0, messages: [{ key: 'a', value: 'b' }] }] }];
    const before = BigInt(Date.now());
    const { buffer } = await createPatched({ acks: -1, timeout: 1, topicData }).encode();
    const after = BigInt(Date.now());
    const sent = buffer.readBigInt64BE(2 + 2 + 4 + 4 + (2 + 'lamps'.length) + 4 + 4 + 4 + 27);
    expect(sent >= before && sent <= after).toBe(true);
  });
});

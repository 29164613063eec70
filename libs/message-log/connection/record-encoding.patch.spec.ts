import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { patchRecordEncoding, type EncodeRecord, type ProducedRecord } from './record-encoding.patch.js';

const require = createRequire(import.meta.url);
const PATH = 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
const encodeInKafkajs = require(PATH) as EncodeRecord;
patchRecordEncoding();
const encodePatched = require(PATH) as EncodeRecord;

const bytes = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
);
const nullable = fc.option(bytes, { nil: null });
const records: fc.Arbitrary<ProducedRecord> = fc.record(
  {
    offsetDelta: fc.nat({ max: 100_000 }),
    // Events of a batch can be years apart.
    timestampDelta: fc.maxSafeNat().map((value) => value % 2 ** 42),
    key: nullable,
    value: nullable,
    headers: fc.dictionary(fc.string({ maxLength: 40 }), fc.oneof(bytes, fc.array(bytes, { maxLength: 3 }))),
  },
  { requiredKeys: [] },
);

describe('records that are sent to Kafka', () => {
  it('have the bytes that the released kafkajs gives them', () => {
    expect(encodePatched).not.toBe(encodeInKafkajs);
    fc.assert(
      fc.property(records, (record) => {
        const [patched, released] = [encodePatched(record), encodeInKafkajs(record)];
        expect(patched.buffer).toEqual(released.buffer);
        expect(patched.size()).toBe(released.size());
      }),
    );
  });
});

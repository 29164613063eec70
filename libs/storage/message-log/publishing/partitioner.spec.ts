import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { KeyPartitioner } from './partitioner.js';

const partitionsOf = (count: number) =>
  Array.from({ length: count }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 1,
    replicas: [1],
    isr: [1],
    offlineReplicas: [],
  }));

const keys = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
);

describe('the partitioner', () => {
  it('chooses the partitions that kafkajs chooses', () => {
    const choose = kafkajs.Partitioners.DefaultPartitioner();
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 500 }), (key, count) => {
        const args = { topic: 'lamps', partitionMetadata: partitionsOf(count), message: { key, value: 'on' } };
        expect(new KeyPartitioner().choose(args)).toBe(choose(args));
      }),
    );
  });

  it('records what it chose', () => {
    const partitioner = new KeyPartitioner();
    const chosen = ['a', 'b', 'c', 'd'].map((key) =>
      partitioner.choose({ topic: 'lamps', partitionMetadata: partitionsOf(6), message: { key, value: 'on' } }),
    );
    expect(partitioner.chosen).toEqual(new Set(chosen.map((partition) => `lamps/${partition}`)));
  });

  it('expects one partition until the topic was used, and then the partition of the key', () => {
    const partitioner = new KeyPartitioner();
    const expected = () => ['a', 'b', 'c', null].map((key) => partitioner.expect({ topic: 'lamps', key }));
    expect(new Set(expected())).toEqual(new Set(['lamps/0']));
    const chosen = ['a', 'b', 'c'].map((key) =>
      partitioner.choose({ topic: 'lamps', partitionMetadata: partitionsOf(6), message: { key, value: 'on' } }),
    );
    expect(expected()).toEqual([...chosen.map((partition) => `lamps/${partition}`), 'lamps/0']);
  });

  it('spreads messages without a key', () => {
    const partitioner = new KeyPartitioner();
    const message = { key: null, value: 'on' };
    for (let n = 0; n < 6; n += 1) partitioner.choose({ topic: 'lamps', partitionMetadata: partitionsOf(6), message });
    expect(partitioner.chosen.size).toBe(6);
  });
});

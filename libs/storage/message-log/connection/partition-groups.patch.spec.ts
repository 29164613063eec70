import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { patchPartitionGroups, type GroupByPartition } from './partition-groups.patch.js';

const require = createRequire(import.meta.url);
const PATH = 'kafkajs/src/producer/groupMessagesPerPartition.js';
delete require.cache[require.resolve(PATH)];
const groupInKafkajs = require(PATH) as GroupByPartition;
patchPartitionGroups();
const groupPatched = require(PATH) as GroupByPartition;

describe('messages that are sent to Kafka', () => {
  it('are in the groups and the order of the released kafkajs', () => {
    expect(groupPatched).not.toBe(groupInKafkajs);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 })), fc.nat({ max: 3 }), (partitions, count) => {
        const topic = {
          topic: 'lamps',
          partitionMetadata: Array.from({ length: count }, (_, partitionId) => ({ partitionId })),
          messages: partitions.map((partition, n) => ({ partition, n })),
          partitioner: ({ message }: { readonly message: object }) =>
            (message as { readonly partition: number }).partition,
        };
        expect(groupPatched(topic)).toEqual(groupInKafkajs(topic));
      }),
    );
  });
});

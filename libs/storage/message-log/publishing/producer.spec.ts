import { createRequire } from 'node:module';
import type { RecordMetadata } from 'kafkajs';
import { describe, expect, it } from '@jest/globals';
import { listUnacknowledged } from './producer.js';

type Send = (batch: object) => Promise<RecordMetadata[]>;

const load = createRequire(import.meta.url);
const createSendMessages = load('kafkajs/src/producer/sendMessages.js') as (parts: object) => Send;
const createRetrier = load('kafkajs/src/retry/index.js') as (options: object) => unknown;

const nothing = (): void => undefined;

describe('the producer', () => {
  /**
   * Two brokers, two partitions. While broker 1 answers for partition 0, broker 2 fails, and partition 1 moves to
   * broker 1. kafkajs believes that broker 1 is finished. If this test fails, kafkajs was fixed.
   */
  it('reports partitions that kafkajs skips if their leader moves to a broker that has already answered', async () => {
    let hasMoved = false;
    const answer = (partition: number) => ({ topics: [{ topicName: 't', partitions: [{ partition, errorCode: 0 }] }] });
    const first = { nodeId: 1, produce: async () => Promise.resolve(answer(0)) };
    const second = {
      nodeId: 2,
      produce: async () => {
        hasMoved = true;
        return Promise.reject(Object.assign(new Error('gone'), { name: 'KafkaJSConnectionError' }));
      },
    };
    const send = createSendMessages({
      logger: { debug: nothing, error: nothing },
      retrier: createRetrier({ initialRetryTime: 1, retries: 3 }),
      partitioner: ({ message }: { message: { key: string } }) => Number(message.key),
      eosManager: {
        acquireBrokerLock: nothing,
        releaseBrokerLock: nothing,
        isTransactional: () => false,
        getSequence: () => 0,
        updateSequence: nothing,
        getProducerId: () => 1,
        getProducerEpoch: () => 0,
      },
      cluster: {
        addMultipleTargetTopics: nothing,
        refreshMetadataIfNecessary: nothing,
        refreshMetadata: nothing,
        isConnected: () => true,
        findTopicPartitionMetadata: () => [{ partitionId: 0 }, { partitionId: 1 }],
        findLeaderForPartitions: () => (hasMoved ? { 1: [0, 1] } : { 1: [0], 2: [1] }),
        findBroker: ({ nodeId }: { nodeId: string }) => (nodeId === '1' ? first : second),
      },
    });
    const messages = ['0', '1'].map((key) => ({ key, value: 'v' }));

    const acknowledged = await send({ acks: -1, topicMessages: [{ topic: 't', messages }] });

    expect(acknowledged.map(({ partition }) => partition)).toEqual([0]);
    expect(listUnacknowledged(new Set(['t/0', 't/1']), acknowledged)).toEqual(['t/1']);
  });

  it('reports nothing if all partitions were acknowledged', () => {
    const acknowledged = [{ topicName: 't', partition: 0, errorCode: 0 }];
    expect(listUnacknowledged(new Set(['t/0']), acknowledged)).toEqual([]);
    expect(listUnacknowledged(new Set(), acknowledged)).toEqual([]);
  });
});

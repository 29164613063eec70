import type { PartitionerArgs } from 'kafkajs';
import { loadKafkajs } from '../connection/kafkajs.js';
import { murmur2 } from './murmur2.js';

type KeyedMessage = { readonly topic: string; readonly key: string | Buffer | null };

const MAX_INT32 = 0x7f_ff_ff_ff;

/** The same partition for all keys, until the number of partitions is known. */
const SINGLE = 1;

/**
 * Chooses the partitions of a producer like Kafka's own clients, so that other tools find a stream's partition by its key.
 */
export class KeyPartitioner {
  private readonly counts = new Map<string, number>();
  private readonly chooseWithoutKey = loadKafkajs().Partitioners.DefaultPartitioner();
  /** The partitions that were chosen since the last `clear`, as `topic/partition`. */
  readonly chosen = new Set<string>();

  /** For kafkajs. */
  choose({ topic, partitionMetadata, message }: PartitionerArgs): number {
    const { key } = message;
    this.counts.set(topic, partitionMetadata.length);
    const partition =
      key === null || key === undefined
        ? this.chooseWithoutKey({ topic, partitionMetadata, message })
        : choosePartition(key, partitionMetadata.length);
    this.chosen.add(formatPartition(topic, partition));
    return partition;
  }

  /**
   * Returns the partition of a message, as `topic/partition`, with the number of partitions at the last `choose`. Before
   * the first one, and for messages without a key, all are in one partition.
   */
  expect({ topic, key }: KeyedMessage): string {
    return formatPartition(topic, key === null ? 0 : choosePartition(key, this.counts.get(topic) ?? SINGLE));
  }
}

export const formatPartition = (topic: string, partition: number): string => `${topic}/${partition}`;

const choosePartition = (key: string | Buffer, count: number): number =>
  // Kafka clears the sign.
  (murmur2(typeof key === 'string' ? Buffer.from(key) : key) & MAX_INT32) % count;

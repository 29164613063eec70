import type { Kafka } from 'kafkajs';
import type { Logger } from '#platform/kernel';
import { consumerMetrics } from '../message-log.metrics.js';
import { fetchGroupLag } from '../topics/topics.admin.js';

/**
 * Reports the lag of the partitions that the group has assigned to this process: after each handled message, and after
 * each assignment. The latter matters if no message can be handled. Other processes report the other partitions.
 */
export class GroupLag {
  private readonly reported = new Set<number>();
  /** Assigned partitions without a handled message since the assignment. */
  private unhandled = new Set<number>();
  private measuring: Promise<void> = Promise.resolve();

  constructor(
    private readonly kafka: Kafka,
    private readonly group: string,
    private readonly topic: string,
    private readonly logger: Logger,
  ) {}

  assign(partitions: readonly number[]): void {
    const { topic } = this;
    this.unhandled = new Set(partitions);
    for (const partition of this.reported)
      if (!this.unhandled.has(partition)) {
        this.reported.delete(partition);
        consumerMetrics.lag.remove({ topic, partition });
      }
    this.measuring = this.measure(this.unhandled).catch((error: unknown) =>
      this.logger.warn({ err: error, topic }, 'the lag of the topic could not be read'),
    );
  }

  handled(partition: number, lag: number): void {
    this.unhandled.delete(partition);
    this.set(partition, lag);
  }

  /** Resolves when nothing is being read from the brokers. */
  settled(): Promise<void> {
    return this.measuring;
  }

  private async measure(partitions: ReadonlySet<number>): Promise<void> {
    if (partitions.size === 0) return;
    for (const [partition, lag] of await fetchGroupLag(this.kafka, this.group, this.topic))
      if (partitions === this.unhandled && partitions.has(partition)) this.set(partition, lag);
  }

  private set(partition: number, lag: number): void {
    this.reported.add(partition);
    consumerMetrics.lag.set({ topic: this.topic, partition }, lag);
  }
}

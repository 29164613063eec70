import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Assignment } from './partition-reader.js';
import { describeError, type RetryPauses } from './retry-pauses.js';

export type GroupOptions = {
  readonly kafka: Kafka;
  readonly group: string;
  readonly topics: readonly string[];
  readonly signal: AbortSignal;
  /** Between memberships. No batch resets them: its partition can be readable while another one is not. */
  readonly pauses: RetryPauses;
  /** Called after each assignment of partitions. `isCurrent` is false after the next one, and when the membership ends. */
  readonly onAssigned: (assignment: Assignment, consumer: Consumer, isCurrent: () => boolean) => Promise<void>;
  readonly onBatch: (payload: EachBatchPayload, consumer: Consumer) => Promise<void>;
};

// The group replaces a killed process after this time. With kafkajs' default of 30 s, its records would wait that long.
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 1_000;
const FETCH_MS = 500;
/** A membership that has lasted this long has no fault that returns at each join, such as a batch that nobody can read. */
const STEADY_MS = 30_000;

type Membership = {
  readonly consumer: Consumer;
  /** Resolves after an abort, rejects when kafkajs has given up. */
  readonly ended: Promise<void>;
  /** Resolves when the last call of `onAssigned` has finished. */
  readonly assigned: () => Promise<void>;
};

/**
 * A member of a consumer group until the signal aborts. kafkajs gives up after errors that it does not retry, and restarts
 * itself after others, also while it is disconnected. So it never restarts here: each failure ends the membership, and this
 * class begins another one after a pause.
 */
export class ConsumerGroupMember {
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: GroupOptions) {}

  /** Resolves when the group has a first assignment. Rejects if that fails. */
  async join(): Promise<void> {
    const first = await this.begin();
    this.running = this.keep(first);
  }

  /** Resolves when the current batch is finished and the member has left, after an abort of the signal. */
  async leave(): Promise<void> {
    await this.running;
  }

  private async keep(first: Membership): Promise<void> {
    const { signal, pauses } = this.options;
    let current: Membership | null = first;
    while (current !== null) {
      await current.ended.catch((error: unknown) => pauses.failed(`left the group: ${describeError(error)}`));
      // Waits for the current batch. If the brokers are unavailable, it cannot leave the group.
      await current.consumer.disconnect().catch(() => undefined);
      await current.assigned();
      current = null;
      while (current === null && !signal.aborted) {
        current = await this.begin().catch(async (error: unknown) => {
          await pauses.failed(`could not join the group: ${describeError(error)}`);
          return null;
        });
      }
    }
  }

  private async begin(): Promise<Membership> {
    const { kafka, group, topics, onBatch } = this.options;
    const consumer = kafka.consumer({
      groupId: group,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_MS,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: () => Promise.resolve(false) },
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: true });
      const { joined, ended, assigned } = this.follow(consumer);
      // kafkajs passes one batch at a time: while a record is retried, all partitions of this process wait.
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: (payload) => onBatch(payload, consumer),
      });
      await Promise.race([joined, ended]);
      return { consumer, ended, assigned };
    } catch (error) {
      await consumer.disconnect().catch(() => undefined);
      throw error;
    }
  }

  private follow(consumer: Consumer): Omit<Membership, 'consumer'> & { readonly joined: Promise<void> } {
    const { signal, onAssigned, pauses } = this.options;
    const joined = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    let joins = 0;
    let hasEnded = false;
    let assigned = Promise.resolve();
    const fail = (error: unknown): void => {
      hasEnded = true;
      ended.reject(error);
    };
    consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) => {
      const join = (joins += 1);
      const isCurrent = (): boolean => join === joins && !hasEnded;
      assigned = onAssigned(memberAssignment, consumer, isCurrent).catch(fail);
      joined.resolve();
    });
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => fail(error));
    const end = (): void => {
      hasEnded = true;
      ended.resolve();
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const steady = new AbortController();
    pauses.succeedAfter(STEADY_MS, steady.signal);
    const release = (): void => {
      steady.abort();
      signal.removeEventListener('abort', end);
    };
    // It may crash before anybody waits for it.
    void ended.promise.catch(() => undefined).finally(release);
    return { joined: joined.promise, ended: ended.promise, assigned: () => assigned };
  }
}

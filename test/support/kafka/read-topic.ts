import { randomUUID } from 'node:crypto';
import type { IHeaders } from 'kafkajs';
import { createKafkaClient } from '#storage/message-log';
import { quiet } from '../silent-logger.js';

export type TopicMessage = {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestamp: string;
};

/**
 * Reads the topics from their beginning until `done` returns true. Returns all messages, redeliveries included, in the
 * order of arrival.
 */
export const readTopic = async (
  brokers: readonly string[],
  topics: readonly string[],
  done: (messages: readonly TopicMessage[]) => boolean,
  timeoutMs = 30_000,
): Promise<readonly TopicMessage[]> => {
  const consumer = createKafkaClient({ brokers, clientId: 'test-reader' }, quiet).consumer({
    groupId: randomUUID(),
    sessionTimeout: 6_000,
    heartbeatInterval: 1_000,
    // A fetch without messages delays the end of the test by this time.
    maxWaitTimeInMs: 100,
    allowAutoTopicCreation: false,
  });
  const messages: TopicMessage[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The promise may be rejected before anything awaits it.
  promise.catch(() => undefined);
  let crash: unknown;
  const timer = setTimeout(() => {
    const failure = `after ${timeoutMs} ms ${messages.length} messages were read, but more are expected`;
    reject(new Error(failure, { cause: crash }));
  }, timeoutMs);
  consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
    crash = error;
    // Without a restart the consumer gets no further messages.
    if (!restart) reject(error);
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      eachBatch: async ({ batch }) => {
        for (const { key, value, headers, timestamp, offset } of batch.messages) {
          messages.push({
            topic: batch.topic,
            partition: batch.partition,
            offset,
            key: key?.toString() ?? null,
            value: value?.toString() ?? null,
            headers: asText(headers ?? {}),
            timestamp,
          });
        }
        if (done(messages)) resolve();
        await Promise.resolve();
      },
    });
    await promise;
    return messages;
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
};

const asText = (headers: IHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

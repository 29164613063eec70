import type { Database, ScheduledJob } from '#platform/postgres';
import { toTopicName, type CloudEventSource, type MessageSender, type TopicSettings } from '#storage/message-log';
import { CHECKPOINTS_TOPIC, toCheckpointMessage } from './checkpoints.published.js';
import {
  findSentPosition,
  forgetSentPosition,
  listCheckpointsAfter,
  storeSentPosition,
} from './sent-checkpoints.queries.js';

const EVERY_MS = 5_000;
const CHECKPOINTS_PER_BATCH = 1_000;

type CheckpointTopicOptions = {
  readonly database: Database;
  readonly sender: Pick<MessageSender, 'send' | 'ensureTopics' | 'listUnwrittenTopics'>;
  readonly origin: Pick<CloudEventSource, 'source' | 'prefix'>;
  readonly settings: TopicSettings;
};

/**
 * Creates the job that publishes each signed checkpoint to Kafka, at least once and in the order of its log, from the first
 * one. While the brokers are down, the job fails and is repeated. A topic without a message gets all checkpoints: it is new,
 * or somebody has deleted it.
 */
export const createCheckpointTopicJob = ({
  database,
  sender,
  origin,
  settings,
}: CheckpointTopicOptions): ScheduledJob => {
  const topic = toTopicName({ topic: CHECKPOINTS_TOPIC }, origin.prefix);
  let isPrepared = false;

  const prepare = async (): Promise<void> => {
    await sender.ensureTopics([{ name: topic, use: 'log' }], settings);
    if ((await sender.listUnwrittenTopics([topic])).length > 0) await database.transaction([forgetSentPosition(topic)]);
    isPrepared = true;
  };

  const sendNext = async (): Promise<number> => {
    const from = await findSentPosition(database, topic);
    const checkpoints = await listCheckpointsAfter(database, from, CHECKPOINTS_PER_BATCH);
    const last = checkpoints.at(-1);
    if (!last) return 0;
    await sender.send(checkpoints.map((checkpoint) => toCheckpointMessage(checkpoint, origin)));
    await database.transaction(storeSentPosition(topic, from, last.position));
    return checkpoints.length;
  };

  return {
    name: 'trail_checkpoint_topic',
    everyMs: EVERY_MS,
    run: async ({ signal, done }) => {
      try {
        if (!isPrepared) await prepare();
        for (let sent = 1; sent > 0 && !signal.aborted; done(sent)) sent = await sendNext();
      } catch (error) {
        isPrepared = false;
        throw error;
      }
    },
  };
};

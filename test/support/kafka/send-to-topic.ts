import kafkajs, { type Message } from 'kafkajs';
import { createKafkaClient } from '#storage/message-log';
import { quiet } from '../silent-logger.js';

/** Sends messages like another service. Resolves when all are acknowledged. */
export const sendToTopic = async (
  brokers: readonly string[],
  topic: string,
  messages: readonly Message[],
): Promise<void> => {
  const producer = createKafkaClient({ brokers, clientId: 'test-service' }, quiet).producer({
    // A batch whose acknowledgement comes too late is sent again, and must not be in the topic twice.
    idempotent: true,
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  try {
    for (let from = 0; from < messages.length; from += 500) {
      await producer.send({ topic, messages: messages.slice(from, from + 500), acks: -1 });
    }
  } finally {
    await producer.disconnect();
  }
};

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readWholeTopic, startKafka, type TestKafka, TOPIC_SETTINGS } from '../../../../test/support/kafka/index.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import type { OutboundMessage } from '../topics/cloud-event.js';
import { MessageSender } from './message-sender.js';

let kafka: TestKafka;
const senders: MessageSender[] = [];

const createSender = (fencingId: string | null): MessageSender => {
  const sender = new MessageSender({ brokers: kafka.brokers, clientId: 'test' }, quiet, fencingId);
  senders.push(sender);
  return sender;
};

const messagesTo = (topic: string, ...values: readonly string[]): readonly OutboundMessage[] =>
  values.map((value) => ({ topic, key: `key-${value}`, value, headers: {}, timestamp: '1700000000000' }));

const valuesOf = async (topic: string): Promise<(string | null)[]> =>
  (await readWholeTopic(kafka.brokers, topic)).map(({ value }) => value).toSorted();

const createTopic = (name: string): Promise<void> =>
  createSender(null).ensureTopics([{ name, use: 'log' }], TOPIC_SETTINGS);

beforeAll(async () => {
  kafka = await startKafka();
});

afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.disconnect()));
});

afterAll(async () => {
  await kafka?.stop();
});

const loseLeadership = (): Promise<void> => Promise.reject(new Error('another process leads'));

describe('a sender that another one has replaced', () => {
  it('cannot send to any partition, whatever the other one has written', async () => {
    await createTopic('a');
    const [earlier, later] = [createSender('site.a'), createSender('site.a')];
    await earlier.send(messagesTo('a', '1', '2', '3'));
    await later.send(messagesTo('a', '4'));
    // It would write to all partitions, also to those that the other sender has not touched.
    const oldValues = Array.from({ length: 40 }, (_, n) => `old-${n}`);
    await expect(earlier.send(messagesTo('a', ...oldValues))).rejects.toThrow('Kafka did not accept the events');
    await later.send(messagesTo('a', '5'));
    expect(await valuesOf('a')).toEqual(['1', '2', '3', '4', '5']);
  });

  it('sends nothing with a new epoch unless it leads, and the other one continues', async () => {
    await createTopic('b');
    const [earlier, later] = [createSender('site.b'), createSender('site.b')];
    await later.send(messagesTo('b', '1'));
    // Opens a producer, which fences the leader, before it finds out.
    await expect(earlier.send(messagesTo('b', 'old'), loseLeadership)).rejects.toThrow('another process leads');
    await expect(later.send(messagesTo('b', '2'))).rejects.toThrow('Kafka did not accept the events');
    await later.send(messagesTo('b', '2'));
    expect(await valuesOf('b')).toEqual(['1', '2']);
  });

  it('is not fenced by a sender with another id, or with none', async () => {
    await createTopic('c');
    const [first, second, third] = [createSender('site.c'), createSender('site.d'), createSender(null)];
    for (const [n, sender] of [first, second, third, first, second, third].entries())
      await sender.send(messagesTo('c', String(n)));
    expect(await valuesOf('c')).toEqual(['0', '1', '2', '3', '4', '5']);
  });
});

describe('the requests of one call', () => {
  it('become visible together, or not at all', async () => {
    await createTopic('d');
    const sender = createSender('site.e');
    const [first] = messagesTo('d', 'first');
    const tooLarge = { ...messagesTo('d', 'x')[0], value: 'x'.repeat(9_000_000) } as OutboundMessage;
    await expect(sender.send([first as OutboundMessage, tooLarge])).rejects.toThrow('Kafka did not accept the events');
    await sender.send(messagesTo('d', 'second'));
    expect(await valuesOf('d')).toEqual(['second']);
  });
});

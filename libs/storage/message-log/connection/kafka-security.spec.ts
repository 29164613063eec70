import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Logger } from '#platform/kernel';
import {
  sampleModule,
  sampleEventKinds,
  readTopic,
  sendToTopic,
  TOPIC_SETTINGS,
} from '../../../../test/support/kafka/index.js';
import { startSecuredKafka, type SecuredKafka } from '../../../../test/support/kafka/secured-kafka.js';
import { startTokenEndpoint, type TokenEndpoint } from '../../../../test/support/kafka/token-endpoint.js';
import { waitUntil } from '../../../../test/support/product.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { TopicConsumer } from '../consuming/topic-consumer.js';
import { KafkaPublisher } from '../publishing/kafka-publisher.js';
import { buildSecurityOptions, type KafkaSecurity } from './kafka-security.js';
import { listTopics } from '../topics/topics.admin.js';

let kafka: SecuredKafka;
let endpoint: TokenEndpoint;
const open: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  [kafka, endpoint] = await Promise.all([startSecuredKafka(), startTokenEndpoint()]);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.stop()));
});
afterAll(async () => {
  await kafka?.stop();
  await endpoint?.close();
});

const trusting = (ca: string): NonNullable<KafkaSecurity['tls']> => ({ ca, certificate: null, key: null });

type Password = Exclude<KafkaSecurity['sasl'], { mechanism: 'OAUTHBEARER' } | null>;

const password = (mechanism: Password['mechanism'], changes: Partial<Password> = {}): KafkaSecurity => ({
  tls: trusting(kafka.files.ca),
  sasl: { mechanism, username: kafka.username, password: kafka.password, ...changes },
});

const bearer = (changes: { readonly clientSecret?: string; readonly scope?: string } = {}): KafkaSecurity => {
  const { url: tokenUrl, clientId, clientSecret } = endpoint;
  const sasl = { mechanism: 'OAUTHBEARER', tokenUrl, clientId, clientSecret, scope: null, ...changes } as const;
  return { tls: trusting(kafka.files.ca), sasl };
};

const logOver = (security: KafkaSecurity, prefix: string, brokers = kafka.saslBrokers): KafkaPublisher => {
  const connection = { brokers, clientId: 'test', ...buildSecurityOptions(security) };
  const log = new KafkaPublisher(
    connection,
    sampleEventKinds,
    { source: 'https://cadastre.example', prefix, mode: 'binary' },
    quiet,
  );
  open.push({ stop: () => log.disconnect() });
  return log;
};

const newPrefix = (): string => `site-${randomUUID()}`;

/** Publishes 20 events over the connection, and reads them over a plain connection. */
const expectToPublish = async (log: KafkaPublisher, prefix: string): Promise<void> => {
  const events = sampleModule(20, 3);
  await log.ensureTopics(listTopics(sampleEventKinds, prefix), TOPIC_SETTINGS);
  await log.publish(events);
  const messages = await readTopic(kafka.brokers, [`${prefix}.lamps`], (all) => all.length >= events.length);
  expect(new Set(messages.map(({ headers }) => headers['ce_id']))).toEqual(new Set(events.map(({ id }) => id)));
};

/** Returns the messages of the causes of the error, as a log line shows them. */
const refusalOf = async (log: KafkaPublisher): Promise<string> => {
  const error: unknown = await log.publish(sampleModule(1, 1)).catch((reason: unknown) => reason);
  if (!(error instanceof Error)) throw new Error('the broker accepted the connection');
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error; cause = cause.cause) causes.push(cause.message);
  return causes.join('; ');
};

describe('a connection to Kafka with TLS', () => {
  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)('publishes as a user with %s', async (mechanism) => {
    const prefix = newPrefix();
    await expectToPublish(logOver(password(mechanism), prefix), prefix);
  });

  it('publishes with a client certificate', async () => {
    const prefix = newPrefix();
    const { ca, certificate, key } = kafka.files;
    await expectToPublish(
      logOver({ tls: { ca, certificate, key }, sasl: null }, prefix, kafka.certificateBrokers),
      prefix,
    );
  });

  it('publishes with a token of the token endpoint', async () => {
    const prefix = newPrefix();
    await expectToPublish(logOver(bearer({ scope: 'kafka write' }), prefix), prefix);
    expect(endpoint.requests.at(-1)).toBe('kafka write');
  });

  it('gets a new token before the old one expires, while it publishes', async () => {
    const prefix = newPrefix();
    const before = endpoint.requests.length;
    // kafkajs authenticates again 10 s before the token expires.
    endpoint.lifetime = 12;
    try {
      const log = logOver(bearer(), prefix);
      await log.ensureTopics(listTopics(sampleEventKinds, prefix), TOPIC_SETTINGS);
      for (let sent = 0; endpoint.requests.length < before + 3; sent += 1) {
        await log.publish(sampleModule(1, 1));
        expect(sent).toBeLessThan(100_000);
      }
    } finally {
      endpoint.lifetime = 3_600;
    }
  });

  it.each([
    ['PLAIN', /Invalid username or password/],
    ['SCRAM-SHA-256', /invalid credentials/],
    ['SCRAM-SHA-512', /invalid credentials/],
  ] as const)('reports a wrong password with %s, and does not repeat it', async (mechanism, reason) => {
    const refusal = await refusalOf(logOver(password(mechanism, { password: 'wrong-horse' }), newPrefix()));
    expect(refusal).toMatch(reason);
    expect(refusal).not.toContain('wrong-horse');
  });

  it('reports a broker whose certificate was signed by another authority', async () => {
    const security = { ...password('SCRAM-SHA-256'), tls: trusting(kafka.files.otherCa) };
    expect(await refusalOf(logOver(security, newPrefix()))).toMatch(/certificate/);
  });

  it('reports a token that has expired', async () => {
    endpoint.lifetime = -60;
    try {
      expect(await refusalOf(logOver(bearer(), newPrefix()))).toBe(
        'SASL OAUTHBEARER authentication failed: invalid_token',
      );
    } finally {
      endpoint.lifetime = 3_600;
    }
  });

  it('reports a token endpoint that refuses the client, without its secret', async () => {
    const refusal = await refusalOf(logOver(bearer({ clientSecret: 'wrong-horse' }), newPrefix()));
    expect(refusal).toContain(`the token endpoint ${endpoint.url} answered 401 (invalid_client)`);
    expect(refusal).not.toContain('wrong-horse');
  });
});

describe('a topic consumer with TLS and OAUTHBEARER', () => {
  it('reads messages of other clients, and recovers when the token endpoint issues valid tokens again', async () => {
    const topic = `${newPrefix()}.facts`;
    const lines: { readonly text: string }[] = [];
    const record: Logger['info'] = (fields, text) => void lines.push({ text, ...fields });
    const { promise: received, resolve } = Promise.withResolvers<string>();
    endpoint.lifetime = -60;
    const consumer = new TopicConsumer(
      { brokers: kafka.saslBrokers, clientId: 'test', ...buildSecurityOptions(bearer()) },
      { name: topic, settings: TOPIC_SETTINGS },
      (messages) => {
        resolve(messages[0]?.value?.toString() ?? '');
        return Promise.resolve(messages.map(() => ({ result: 'recorded' })));
      },
      { ...quiet, info: record, warn: record },
    );
    consumer.start();
    open.push(consumer);
    await waitUntil(
      () => lines.some(({ text }) => text === 'topic consumer failed, will retry'),
      'the consumer has failed',
    );
    endpoint.lifetime = 3_600;
    await waitUntil(() => lines.some(({ text }) => text === 'topic consumer recovered'), 'the consumer has recovered');
    await sendToTopic(kafka.brokers, topic, [{ key: 'k', value: 'hello' }]);
    expect(await received).toBe('hello');
    expect(lines[0]).toMatchObject({ topic, err: { message: expect.stringMatching(/authentication failed/) } });
  });
});

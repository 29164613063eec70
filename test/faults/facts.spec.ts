import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { createFact, registerSource } from '../../libs/activity/facts/spec.js';
import { readTopic, sendToTopic, startKafka, type TestKafka } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeOrganizationToken } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { expectTopicsToHave, expectTrailToHave, readLog, readTrail } from './recorded-log.js';

const LONG = 240_000;
const FACTS = 2_000;
const ROUNDS = 5;
const POISONED_EVERY = 20;

let kafka: TestKafka;
let product: Product;

beforeAll(async () => {
  kafka = await startKafka();
});

afterAll(() => kafka?.stop());
afterEach(() => product?.remove());

const isPoisoned = (n: number): boolean => n % POISONED_EVERY === 0;

const messageOf = (n: number): Message => {
  const { source, id, time, ...data } = createFact(String(n));
  const attributes = { specversion: '1.0', type: 'cadastre.AuditFact.v1', source, id, time, organization: 'acme' };
  const text = JSON.stringify(data);
  return {
    key: String(n % 17),
    value: isPoisoned(n) ? text.slice(0, -n % 9 || -1) : text,
    headers: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value])),
  };
};

describe('facts of other services', () => {
  it(
    'are in the trail once each, and invalid ones are in the topic of rejected messages, although the product is killed several times',
    async () => {
      const prefix = `site-${randomUUID()}`;
      const topic = `${prefix}.facts`;
      product = await launchProduct({ KAFKA_BROKERS: kafka.brokers.join(','), CADASTRE_TOPIC_PREFIX: prefix });
      await product.start();
      const api = createApiTestClient(product.url, product.adminToken);
      const organization = await makeOrganization(api, 'acme');
      await registerSource(api, 'acme');
      const token = await makeOrganizationToken(api, 'acme');
      await waitForTopics(kafka.brokers, [topic]);
      const numbers = Array.from({ length: FACTS }, (_, n) => n);
      const recorded = async (): Promise<number> =>
        (await readLog(await product.databaseUrl())).filter(({ type }) => type === 'AuditFactReported').length;

      for (let round = 1; round <= ROUNDS; round += 1) {
        const some = numbers.filter((n) => n % ROUNDS === round - 1);
        const before = await recorded();
        const sent = sendToTopic(kafka.brokers, topic, some.map(messageOf));
        // Some of them are also sent over REST.
        const facts = some.filter((n) => n % 3 === 0 && !isPoisoned(n)).map((n) => createFact(String(n)));
        expectStatus(
          await createApiTestClient(product.url, token).post('/api/v2/organizations/acme/audit-facts', { facts }),
          201,
        );
        await sent;
        // Kills at a random time, when some of the facts are recorded.
        const more = randomInt(1, 300);
        await waitUntil(async () => (await recorded()) >= before + more, 'facts come in');
        await (round % 3 === 0 ? product.killWithPostgres() : product.kill());
        await product.start();
      }

      const expected = numbers.filter((n) => !isPoisoned(n)).map((n) => `thing-${n}`);
      await waitUntil(async () => (await recorded()) >= expected.length, 'all facts have been recorded');
      const log = await readLog(await product.databaseUrl());
      const trail = await readTrail(product.url, token);
      expectTrailToHave(trail, log, organization.id);
      const recordedThings = trail
        .filter(({ resource }) => resource.type === 'stack')
        .map(({ resource }) => resource.id);
      expect(recordedThings.toSorted()).toEqual(expected.toSorted());

      // The producer may send a message twice, and the consumer may reject it twice. Each must be there at least once.
      const poisoned = numbers.filter(isPoisoned).map(String);
      const idsOf = (all: Awaited<ReturnType<typeof readTopic>>) => new Set(all.map(({ headers }) => headers['ce_id']));
      const rejected = await readTopic(
        kafka.brokers,
        [`${topic}.rejected`],
        (all) => idsOf(all).size >= poisoned.length,
      );
      expect([...idsOf(rejected)].toSorted()).toEqual(poisoned.toSorted());
      expect(new Set(rejected.map(({ headers }) => headers['rejected_reason']))).toEqual(
        new Set(['The message is not valid JSON']),
      );
      await expectTopicsToHave(kafka.brokers, prefix, log);
      expect(await product.run('verify')).toMatchObject({ code: 0 });
    },
    LONG,
  );
});

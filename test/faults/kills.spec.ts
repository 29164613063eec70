import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startKafka, type TestKafka } from '../support/kafka/index.js';
import { launchProduct, type Product } from '../support/product.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { expectTopicsToHave } from './recorded-log.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

const LONG = scaleLimit(240_000);
/** Of three kills, one also kills Postgres, and one happens during a start. */
const KILLS = countRounds(3);

let kafka: TestKafka;
let prefix: string;
let product: Product;

beforeAll(async () => {
  kafka = await startKafka();
});

afterAll(() => kafka?.stop());
afterEach(() => product?.remove());

const startProduct = async (): Promise<void> => {
  prefix = `site-${randomUUID()}`;
  product = await launchProduct({ KAFKA_BROKERS: kafka.brokers.join(','), CADASTRE_TOPIC_PREFIX: prefix });
  await product.start();
};

describe('kill -9', () => {
  it(
    'at random moments, with its Postgres or without, loses or doubles no acknowledged write',
    async () => {
      await startProduct();
      let gate = Promise.withResolvers<void>();
      gate.resolve();
      const work = await startBackgroundLoad(
        product,
        () => product.databaseUrl(),
        () => gate.promise,
      );
      for (let kill = 1; kill <= KILLS; kill += 1) {
        // Kills at a random time.
        await work.clients.acknowledged(randomInt(1, 60));
        const ended = await (kill % 3 === 1 ? product.killWithPostgres() : product.kill());
        expect(ended.signal).toBe('SIGKILL');
        gate = Promise.withResolvers<void>();
        // Every third time it is killed again while its Postgres starts and recovers.
        if (kill % 3 === 2) await product.endDuringStart('SIGKILL');
        await product.start();
        gate.resolve();
      }
      await work.clients.acknowledged(30);
      await work.clients.stop();
      await expectTopicsToHave(kafka.brokers, prefix, await expectNothingLost(work));
      expect(work.clients.ledger.count('unknown')).toBeGreaterThan(0);
    },
    LONG,
  );
});

describe('a broker that is killed', () => {
  it(
    'gets the missing events after its restart, and no request fails meanwhile',
    async () => {
      await startProduct();
      const work = await startBackgroundLoad(product, () => product.databaseUrl());
      await work.clients.acknowledged(50);
      await kafka.kill();
      await work.clients.acknowledged(200);
      await kafka.restart();
      await work.clients.acknowledged(50);
      await work.clients.stop();
      expect(work.clients.ledger.count('unknown')).toBe(0);
      expect([...work.clients.statuses.keys()].toSorted()).toEqual([200, 201]);
      await expectTopicsToHave(kafka.brokers, prefix, await expectNothingLost(work));
    },
    LONG,
  );
});

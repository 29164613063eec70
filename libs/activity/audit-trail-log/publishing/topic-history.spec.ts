import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { formatCheckpoint, signNote } from '#packages/trail-verifier';
import { MessageSender } from '#storage/message-log';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { sendToTopic, startKafka, TOPIC_SETTINGS, type TestKafka } from '../../../../test/support/kafka/index.js';
import { waitUntil } from '../../../../test/support/product.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import {
  createTestSigning,
  insertTestLeaves,
  readVerifiedCheckpoint,
  tamper,
} from '../../../../test/support/trail-signing.js';
import { checkpointMetrics } from '../checkpoints/checkpoints.metrics.js';
import type { HistoryGuard } from '../checkpoints/history-guards.service.js';
import { createCheckpointTopicJob } from './checkpoint-topic.job.js';
import { createTopicGuard } from './topic-history.service.js';

const ORG = 'org-mill';

const clock = new AdjustableClock();
let kafka: TestKafka;
let server: TestServer;
let prefix: string;
let topics = 0;
let size = 0;
/** A projector that has run since the last restore. */
let sign: () => Promise<number>;
const senders: MessageSender[] = [];

const createGuard = (): HistoryGuard => {
  const connection = { brokers: kafka.brokers, clientId: 'test-guard' };
  const { settings } = server.runtime;
  return createTopicGuard({ ...server.runtime, logger: quiet }, { ...settings, connection, topicPrefix: prefix });
};

/** Starts a projector that reads the topic of the test before it signs. */
const startProjector = (): (() => Promise<number>) => createTestSigning(server, [createGuard()]);

const publish = async (): Promise<void> => {
  const sender = new MessageSender({ brokers: kafka.brokers, clientId: 'test' }, quiet, `${prefix}.checkpoints`);
  senders.push(sender);
  const origin = { source: 'https://cadastre.example', prefix };
  await runJobOnce(createCheckpointTopicJob({ database: server.database, sender, origin, settings: TOPIC_SETTINGS }));
};

/** Adds leaves, and signs the log of the organization and that of the site. */
const grow = async (leaves = 1, history = ''): Promise<void> => {
  await insertTestLeaves(server.database, ORG, [size, size + leaves], history);
  size += leaves;
  for (let round = 0; round < 2; round += 1) {
    clock.pass({ minutes: 2 });
    await sign();
  }
};

/** Brings the database back to a size of the log, and the file store to the same checkpoint. */
const restoreTo = async (restored: number): Promise<void> => {
  const { database, runtime } = server;
  await tamper(database, sql`delete from audit_trail.leaves where organization = ${ORG} and index >= ${restored}`);
  await tamper(
    database,
    sql`delete from audit_trail.signed_checkpoints where organization = ${ORG} and size > ${restored}`,
  );
  const row = await database.row<{ note: string }>(sql`
    select note from audit_trail.signed_checkpoints where organization = ${ORG} order by position desc limit 1`);
  await runtime.blobs.delete(`trail-checkpoints/${ORG}`);
  await runtime.blobs.put(`trail-checkpoints/${ORG}`, Buffer.from(row?.note ?? ''));
  size = restored;
};

const readOrigin = async (): Promise<string> => (await readVerifiedCheckpoint(server.database, ORG)).origin;

const listSizes = async (origin: string): Promise<readonly number[]> =>
  (
    await server.database.rows<{ size: number }>(sql`
      select size from audit_trail.signed_checkpoints where organization = ${ORG} and origin = ${origin} order by size`)
  ).map((row) => row.size);

const readForeign = async (): Promise<number> => (await checkpointMetrics.foreignMessages.get()).values[0]?.value ?? 0;

beforeAll(async () => {
  kafka = await startKafka();
  // Brokers refuse messages of the future.
  clock.pass({ days: -1 });
  server = await startTestServer({ clock });
});
beforeEach(async () => {
  topics += 1;
  prefix = `site${topics}`;
  sign = createTestSigning(server);
  await grow(3);
  await publish();
});
afterAll(async () => {
  for (const sender of senders) await sender.disconnect();
  await server?.close();
  await kafka?.stop();
});

describe('a projector that starts after the database and the file store were restored together', () => {
  it('reads the topic of checkpoints first, so that it signs no second history under the same origin', async () => {
    const restored = size;
    const origin = await readOrigin();
    await grow(2);
    await publish();
    await restoreTo(restored);
    sign = startProjector();
    await grow(5, 'another history');
    expect((await listSizes(origin)).at(-1)).toBe(restored);
    expect(await readOrigin()).not.toBe(origin);
    // It has read that a checkpoint of the former origin exists, and continues under the new one.
    const next = await readOrigin();
    sign = startProjector();
    await grow();
    expect(await readOrigin()).toBe(next);
  });

  it('finds lost checkpoints although the log was signed after they were read', async () => {
    const restored = size;
    const origin = await readOrigin();
    await grow(2);
    await publish();
    await restoreTo(restored);
    const guard = createGuard();
    await guard.check(AbortSignal.timeout(60_000));
    await grow(5, 'another history');
    expect(await readOrigin()).toBe(origin);
    await guard.recordFindings?.();
    await grow();
    expect(await readOrigin()).not.toBe(origin);
  });

  it('signs under the same origin if the topic has nothing that the database does not have', async () => {
    const origin = await readOrigin();
    sign = startProjector();
    await grow();
    expect(await readOrigin()).toBe(origin);
  });

  it('finds lost checkpoints that a clock signed which had gone back a year', async () => {
    const restored = size;
    const origin = await readOrigin();
    clock.pass({ days: -365 });
    await grow(2);
    await publish();
    await restoreTo(restored);
    clock.pass({ days: 365 });
    sign = startProjector();
    await grow(4, 'another history');
    expect((await listSizes(origin)).at(-1)).toBe(restored);
  });

  it('skips the number of an origin that was lost too', async () => {
    const restored = size;
    const lost = size + 2;
    await grow(2);
    await publish();
    await restoreTo(restored);
    sign = startProjector();
    await grow();
    const second = await readOrigin();
    await publish();
    // The second restore loses the fork with its keys.
    await tamper(
      server.database,
      sql`delete from audit_trail.log_keys where organization = ${ORG} and origin = ${second}`,
    );
    await restoreTo(restored);
    await tamper(
      server.database,
      sql`delete from audit_trail.signed_checkpoints where organization = ${ORG} and origin = ${second}`,
    );
    sign = startProjector();
    await grow(lost, 'a third history');
    const numbers = [second, await readOrigin()].map((origin) => Number(/\/(\d+)$/.exec(origin)?.[1]));
    expect(numbers[1]).toBe((numbers[0] ?? 0) + 1);
  });
});

describe('a topic that others can write to', () => {
  it('changes nothing with messages that this site has not signed for this log', async () => {
    const origin = await readOrigin();
    const { privateKey } = generateKeyPairSync('ed25519');
    const forge = (name: string, by: string): string =>
      JSON.stringify({
        checkpoint: signNote(formatCheckpoint({ origin: name, size: 99_999, root: Buffer.alloc(32) }), [
          { name: by, privateKey },
        ]),
      });
    const site = await server.database.row<{ note: string }>(sql`
      select note from audit_trail.signed_checkpoints where organization = 'site' order by position desc limit 1`);
    const messages = [
      { key: ORG, value: forge(origin, origin) },
      { key: ORG, value: forge(`${origin}/7`, `${origin}/7`) },
      { key: ORG, value: forge(`other.example/${ORG}`, `other.example/${ORG}`) },
      // A checkpoint of another log of this site.
      { key: ORG, value: JSON.stringify({ checkpoint: site?.note ?? '' }) },
      { key: '../../etc/passwd', value: forge(origin, origin) },
      { key: `${ORG}\0`, value: forge(origin, origin) },
      { key: ORG, value: 'no JSON' },
      { key: ORG, value: JSON.stringify({ checkpoint: 7 }) },
      { key: ORG, value: null },
      { key: null, value: forge(origin, origin) },
      { key: ORG, value: forge(origin, origin).padEnd(40_000) },
    ];
    await sendToTopic(kafka.brokers, `${prefix}.audit-trail-checkpoints`, messages);
    const before = await readForeign();
    sign = startProjector();
    await sign();
    expect((await readForeign()) - before).toBe(messages.length);
    await grow();
    expect(await readOrigin()).toBe(origin);
  });
});

describe('brokers that do not answer', () => {
  const readUnknown = async (): Promise<number | undefined> =>
    (await checkpointMetrics.unknownHistory.get()).values.find(({ labels }) => labels['source'] === 'kafka')?.value;

  it('delay the signatures by two rounds, and are read again later', async () => {
    const restored = size;
    const origin = await readOrigin();
    await grow(2);
    await publish();
    await restoreTo(restored);
    await kafka.kill();
    sign = startProjector();
    await insertTestLeaves(server.database, ORG, [size, size + 1], 'another history');
    size += 1;
    expect([await sign(), await sign()]).toEqual([0, 0]);
    expect(await sign()).toBe(1);
    expect(await readUnknown()).toBe(1);
    expect(await readOrigin()).toBe(origin);
    await kafka.restart();
    // The process has not paused, so it asks beside the rounds.
    for (let round = 0; round < 2; round += 1) {
      clock.pass({ seconds: 40 });
      await sign();
    }
    await waitUntil(async () => (await readUnknown()) === 0, 'the topic was read');
    await grow();
    expect(await readOrigin()).not.toBe(origin);
  });
});

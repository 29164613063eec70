import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { MessageSender } from '#storage/message-log';
import { openCheckpoint, parseVerifierKey, verifyExport } from '#packages/trail-verifier';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeTopic, startKafka, TOPIC_SETTINGS, type TestKafka } from '../../../../test/support/kafka/index.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { createTestSigning, insertTestLeaves } from '../../../../test/support/trail-signing.js';
import { TrailLogReader } from '../serving/trail-log.reader.js';
import { createCheckpointTopicJob } from './checkpoint-topic.job.js';

const clock = new AdjustableClock();
let kafka: TestKafka;
let server: TestServer;
let sign: () => Promise<number>;
const senders: MessageSender[] = [];

/** Creates the job as a publisher that has just started. */
const createPublishing = (prefix: string, brokers = kafka.brokers) => {
  const sender = new MessageSender({ brokers, clientId: 'test' }, quiet, `${prefix}.checkpoints`);
  senders.push(sender);
  const origin = { source: 'https://cadastre.example', prefix };
  const job = createCheckpointTopicJob({ database: server.database, sender, origin, settings: TOPIC_SETTINGS });
  return () => runJobOnce(job);
};

/** Adds a leaf to the log of an organization, and signs it and the log of the site. */
const grow = async (organization: string, index: number): Promise<void> => {
  await insertTestLeaves(server.database, organization, [index, index + 1]);
  for (let round = 0; round < 2; round += 1) {
    clock.pass({ minutes: 2 });
    await sign();
  }
};

const readSizes = async (prefix: string): Promise<Readonly<Record<string, readonly number[]>>> => {
  const messages = await readWholeTopic(kafka.brokers, `${prefix}.audit-trail-checkpoints`);
  const groups = Object.entries(Object.groupBy(messages, ({ key }) => key ?? ''));
  return Object.fromEntries(
    groups.map(([key, all = []]) => [
      key,
      all.map(({ value }) => (JSON.parse(value ?? '') as { readonly size: number }).size),
    ]),
  );
};

beforeAll(async () => {
  kafka = await startKafka();
  server = await startTestServer({ clock });
  sign = createTestSigning(server);
  for (let index = 0; index < 3; index += 1) await grow('org-mill', index);
  await grow('org-barn', 0);
});
afterAll(async () => {
  for (const sender of senders) await sender.disconnect();
  await server?.close();
  await kafka?.stop();
});

describe('the topic of checkpoints', () => {
  it('contains each checkpoint that was signed before Kafka was configured, in the order of its log', async () => {
    const publish = createPublishing('first');
    expect(await publish()).toBe(8);
    expect(await publish()).toBe(0);
    expect(await readSizes('first')).toEqual({ 'org-mill': [1, 2, 3], 'org-barn': [1], site: [1, 2, 3, 4] });
  });

  it('has messages that are CloudEvents, and whose signatures programs can verify', async () => {
    const messages = await readWholeTopic(kafka.brokers, 'first.audit-trail-checkpoints');
    const last = messages.findLast(({ key }) => key === 'org-mill');
    const value = JSON.parse(last?.value ?? '') as Readonly<Record<string, string>>;
    const row = await server.database.row<{ key: string; origin: string }>(sql`
      select verifier_key as key, origin from audit_trail.log_keys where organization = 'org-mill'`);
    const opened = openCheckpoint(value['checkpoint'] ?? '', [parseVerifierKey(row?.key ?? '')]);
    expect(value).toEqual({
      origin: row?.origin,
      size: 3,
      root: opened.root.toString('base64'),
      checkpoint: opened.note,
    });
    expect(last?.headers).toMatchObject({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      ce_type: 'cadastre.audit-trail-checkpoint.v1',
      ce_source: 'https://cadastre.example',
      ce_subject: row?.origin,
      ce_organization: 'org-mill',
    });
    const site = messages.find(({ key }) => key === 'site');
    expect(site?.headers).not.toHaveProperty('ce_organization');
  });

  it('has messages that the verifier compares with the log, as lines of an export', async () => {
    const messages = await readWholeTopic(kafka.brokers, 'first.audit-trail-checkpoints');
    const lines = messages.flatMap(({ key, value }) => (key === 'org-mill' ? [`${value}\n`] : []));
    const logs = new TrailLogReader(server.database);
    const [key = ''] = (await logs.readKeys('org-mill')).toString().split('\n');
    const verify = (texts: readonly string[]) =>
      verifyExport(Readable.from(texts.map((text) => Buffer.from(text))), {
        keys: [parseVerifierKey(key)],
        isFiltered: true,
        log: (path) => logs.readTile('org-mill', path.replace(/^tile\//, '')),
      });
    expect(await verify(lines)).toMatchObject({ checkpoint: { size: 3 }, entries: 0, absent: 3 });
    await expect(verify(lines.toReversed())).rejects.toThrow(expect.objectContaining({ problem: 'rollback' }));
  });

  it('gets all checkpoints again if it was deleted, under the same ids', async () => {
    const publish = createPublishing('again');
    await publish();
    await server.database.rows(sql`delete from audit_trail.sent_checkpoints where topic like 'again.%'`);
    expect(await publish()).toBe(8);
    const messages = await readWholeTopic(kafka.brokers, 'again.audit-trail-checkpoints');
    const copies = Object.groupBy(messages, ({ headers }) => headers['ce_id'] ?? '');
    expect(Object.values(copies).map((all) => all?.length)).toEqual(Array.from({ length: 8 }, () => 2));
    // Another topic, for example on another cluster, that has no messages yet.
    await server.database.rows(sql`insert into audit_trail.sent_checkpoints values ('new.audit-trail-checkpoints', 8)`);
    expect(await createPublishing('new')()).toBe(8);
  });

  it('misses nothing that is signed while no broker answers', async () => {
    const publish = createPublishing('outage');
    expect(await publish()).toBe(8);
    await kafka.kill();
    await grow('org-barn', 1);
    await expect(publish()).rejects.toThrow(/Kafka|ECONNREFUSED|connect/i);
    await kafka.restart();
    expect(await publish()).toBe(2);
    expect(await readSizes('outage')).toMatchObject({ 'org-barn': [1, 2], 'org-mill': [1, 2, 3] });
  });

  it('misses no checkpoint although two publishers run at the same time', async () => {
    const both = [createPublishing('two'), createPublishing('two')] as const;
    await both[0]();
    await both[1]();
    await grow('org-mill', 3);
    await Promise.allSettled([both[0](), both[1]()]);
    await both[1]();
    const { 'org-mill': sizes = [] } = await readSizes('two');
    expect([...new Set(sizes)]).toEqual([1, 2, 3, 4]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Admin } from 'kafkajs';
import { createKafkaClient, listTopics } from '#storage/message-log';
import { listStateTopics } from '#api/state-topics';
import { eventRegistry } from '../../apps/modules.js';
import { publishedResources } from '../../apps/published-resources.js';
import { startKafka, type TestKafka } from '../support/kafka/index.js';
import { launchProduct, type Product } from '../support/product.js';
import { quiet } from '../support/silent-logger.js';

let kafka: TestKafka;
let product: Product;
let admin: Admin;

/** Topics of the log, state topics, the one of checkpoints, the one of facts, and the one of rejected facts. */
const TOPICS =
  listTopics(eventRegistry, 'cadastre').length + listStateTopics(publishedResources, 'cadastre').length + 3;

beforeAll(async () => {
  kafka = await startKafka();
  product = await launchProduct({ KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC_PARTITIONS: '2' });
  admin = createKafkaClient({ brokers: kafka.brokers, clientId: 'operator' }, quiet).admin();
  await admin.connect();
  // An operator has created a topic that loses events after a minute.
  const configEntries = [
    { name: 'retention.ms', value: '60000' },
    { name: 'segment.bytes', value: '1048576' },
  ];
  await admin.createTopics({ topics: [{ topic: 'cadastre.runs', numPartitions: 1, configEntries }] });
});

afterAll(async () => {
  await admin?.disconnect();
  await product?.remove();
  await kafka?.stop();
});

const readConfig = async (topic: string): Promise<Readonly<Record<string, string>>> => {
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name: topic }] });
  const [resource] = resources;
  return Object.fromEntries((resource?.configEntries ?? []).map((entry) => [entry.configName, entry.configValue]));
};

describe('the commands for topics', () => {
  it('report what differs, and exit with 1', async () => {
    const { code, stdout } = await product.run('topics', 'check');
    expect(code).toBe(1);
    expect(stdout).toContain('cadastre.runs: retention.ms is 60000, not -1\n');
    expect(stdout).toContain('cadastre.runs: partitions is 1, not 2\n');
    expect(stdout).toContain('cadastre.workspaces: does not exist\n');
    expect(stdout).toContain(`${TOPICS} of ${TOPICS} topics differ from the settings. Run "cadastre topics plan"`);
  });

  it('plan changes without making them', async () => {
    const { code, stdout } = await product.run('topics', 'plan');
    expect(code).toBe(0);
    expect(stdout).toContain('change cadastre.runs: retention.ms from 60000 to -1\n');
    expect(stdout).toMatch(/^keep cadastre\.runs: partitions stays 1 instead of 2; .*KAFKA_TOPIC_PARTITIONS/m);
    expect(stdout).toContain('create cadastre.workspaces: 2 partitions with 1 replica\n');
    expect(await admin.listTopics()).not.toContain('cadastre.workspaces');
  });

  it('change nothing without a confirmation', async () => {
    const refused = await product.run('topics', 'apply');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('add --yes. Nothing was changed') });
    expect(await readConfig('cadastre.runs')).toMatchObject({ 'retention.ms': '60000' });
  });

  it('create missing topics, and configure existing ones without touching other values', async () => {
    const applied = await product.run('topics', 'apply', '--yes');
    expect(applied).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(`Changed ${TOPICS} topics.\n`),
    });
    expect(await readConfig('cadastre.runs')).toMatchObject({
      'retention.ms': '-1',
      'max.message.bytes': '8388608',
      'segment.bytes': '1048576',
    });
    expect(await readConfig('cadastre.workspaces.state')).toMatchObject({
      'cleanup.policy': 'compact',
      'max.compaction.lag.ms': '86400000',
      'delete.retention.ms': '2592000000',
    });
    const remaining = await product.run('topics', 'check', '--json');
    expect(remaining.code).toBe(1);
    expect(JSON.parse(remaining.stdout)).toEqual([
      { topic: 'cadastre.runs', attribute: 'partitions', target: '2', actual: '1', action: 'keep' },
    ]);
  });

  it('refuse to run without brokers', async () => {
    const refused = await product.runWith({ KAFKA_BROKERS: '', KAFKA_TOPIC_PARTITIONS: '' }, 'topics', 'check');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('KAFKA_BROKERS is not set') });
  });

  it('name the brokers if none responds', async () => {
    const refused = await product.runWith({ KAFKA_BROKERS: '127.0.0.1:9' }, 'topics', 'check');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^KAFKA_BROKERS: no broker answered at 127\.0\.0\.1:9 \(.*ECONNREFUSED/m),
    });
  });
});

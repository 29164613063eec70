import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKafkaClient, hasTopic } from '#storage/message-log';
import { readTopic, readWholeTopic, startKafka, type TestKafka, type TopicMessage } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { launchProduct, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { quiet } from '../support/silent-logger.js';

const LONG = 180_000;

let kafka: TestKafka;
let product: Product;
let live: readonly TopicMessage[];

const comparePositions = (a: TopicMessage, b: TopicMessage): number =>
  Number(a.headers['ce_position']) - Number(b.headers['ce_position']);

/** Returns what a message contains, without the place that it has in a topic. */
const toContent = ({ key, value, headers, timestamp }: TopicMessage) => ({ key, value, headers, timestamp });

/** Returns those of the replayed messages that the live topic of workspaces has, in the order of the log. */
const selectReplayed = (messages: readonly TopicMessage[]): readonly TopicMessage[] =>
  messages.filter(({ key }) => key === live[0]?.key).toSorted(comparePositions);

const positionsOf = (messages: readonly TopicMessage[]): number[] =>
  messages.map(({ headers }) => Number(headers['ce_position'])).toSorted((a, b) => a - b);

beforeAll(async () => {
  kafka = await startKafka();
  product = await launchProduct({ KAFKA_BROKERS: kafka.brokers.join(',') });
  await product.start();
  const api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
  const workspace = await makeWorkspace(api, 'acme', 'core');
  for (let n = 0; n < 20; n += 1) {
    expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
    expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`, {}), 200);
  }
  await waitForTopics(kafka.brokers, ['cadastre.workspaces']);
  // The creation, 20 locks and 20 unlocks.
  const messages = await readTopic(kafka.brokers, ['cadastre.workspaces'], (all) => all.length >= 41);
  live = messages.toSorted(comparePositions);
}, LONG);

afterAll(async () => {
  await product?.remove();
  await kafka?.stop();
});

describe('cadastre replay', () => {
  it(
    'refuses a missing topic, a topic of documents, and a live topic without a confirmation',
    async () => {
      const missing = await product.run('replay', '--from', '1', '--to', 'copy');
      expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('the topic copy does not exist') });
      const states = await product.run('replay', '--from', '1', '--to', 'cadastre.workspaces.state', '--yes');
      expect(states).toMatchObject({ code: 1, stderr: expect.stringContaining('does not contain events; choose') });
      const target = await product.run('replay', '--from', '1', '--to', 'cadastre.workspaces');
      expect(target).toMatchObject({ code: 1, stderr: expect.stringContaining('not confirmed') });
      const foreign = ['--to', 'cadastre.runs', '--type', 'WorkspaceLocked', '--yes'];
      const other = await product.run('replay', '--from', '1', ...foreign);
      expect(other).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the live topic cadastre.runs does not get WorkspaceLocked'),
      });
    },
    LONG,
  );

  it(
    'refuses options that are wrong, and names what is accepted',
    async () => {
      const cases = [
        ['--from', 'yesterday', 'must be a position (a whole number from 1), a date'],
        ['--type', 'WorkspaceEaten', 'must be the type of an event'],
        ['--rate', '0', 'must be a whole number from 1 to 100000, got "0"'],
        ['--to-position', '999999', 'the last position of the log is'],
      ] as const;
      for (const [option, value, text] of cases) {
        const refused = await product.run('replay', '--from', '1', '--to', 'wrong', '--create', option, value);
        expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(text) });
      }
      expect(await hasTopic(createKafkaClient({ brokers: kafka.brokers, clientId: 'test' }, quiet), 'wrong')).toBe(
        false,
      );
    },
    LONG,
  );

  it(
    'sends the bytes of the live messages, with a header',
    async () => {
      const replayed = await product.run('replay', '--from', '1', '--to', 'copy', '--create');
      expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Sent \d+ events to copy\.\n$/) });
      const messages = selectReplayed(await readWholeTopic(kafka.brokers, 'copy'));
      expect(messages.map(toContent)).toEqual(
        live.map((message) => ({
          ...toContent(message),
          headers: { ...message.headers, 'cadastre-replay': 'true' },
        })),
      );
    },
    LONG,
  );

  it(
    'sends only events of some types, up to a position',
    async () => {
      const unlocks = live.filter(({ headers }) => headers['ce_type']?.startsWith('cadastre.WorkspaceUnlocked'));
      const last = Number(unlocks[4]?.headers['ce_position']);
      const limits = ['--type', 'WorkspaceUnlocked', '--to-position', String(last)];
      await product.run('replay', '--from', '1', ...limits, '--to', 'unlocks', '--create');
      expect(positionsOf(await readWholeTopic(kafka.brokers, 'unlocks'))).toEqual(positionsOf(unlocks.slice(0, 5)));
    },
    LONG,
  );

  it(
    'prints the position to continue from if it is stopped',
    async () => {
      const command = ['replay', '--to', 'slow', '--create', '--rate', '2'];
      const replay = product.spawn(...command, '--from', '1');
      await waitForTopics(kafka.brokers, ['slow']);
      await readTopic(kafka.brokers, ['slow'], (all) => all.length >= 2);
      replay.kill('SIGINT');
      const { code, stderr } = await replay.ended;
      expect(code).toBe(1);
      const [, next = ''] = /run the same command with --from (\d+)/.exec(stderr) ?? [];
      const first = positionsOf(await readWholeTopic(kafka.brokers, 'slow'));
      expect(Number(next)).toBeGreaterThan(first.at(-1) ?? 0);
      await product.run('replay', '--to', 'slow', '--from', next);
      expect(positionsOf(selectReplayed(await readWholeTopic(kafka.brokers, 'slow')))).toEqual(positionsOf(live));
    },
    LONG,
  );

  it(
    'prints the position to continue from if the brokers fail',
    async () => {
      const command = ['replay', '--to', 'broken', '--create', '--rate', '2'];
      const replay = product.spawn(...command, '--from', '1');
      await waitForTopics(kafka.brokers, ['broken']);
      await readTopic(kafka.brokers, ['broken'], (all) => all.length >= 2);
      await kafka.kill();
      const { code, stdout, stderr } = await replay.ended;
      await kafka.restart();
      expect(code).toBe(1);
      expect(stdout).toMatch(/^Sent \d+ events to broken\.$/m);
      expect(stderr).toContain('KAFKA_BROKERS: no broker answered');
      const [, next = ''] = /run the same command with --from (\d+)/.exec(stderr) ?? [];
      await product.run('replay', '--to', 'broken', '--from', next);
      const positions = positionsOf(selectReplayed(await readWholeTopic(kafka.brokers, 'broken')));
      expect([...new Set(positions)]).toEqual(positionsOf(live));
    },
    LONG,
  );

  it(
    'begins at a time',
    async () => {
      const from = new Date(Number(live.at(-10)?.timestamp)).toISOString();
      await product.run('replay', '--from', from, '--to', 'since', '--create');
      const positions = positionsOf(await readWholeTopic(kafka.brokers, 'since'));
      expect(positions).toEqual(expect.arrayContaining(positionsOf(live.slice(-10))));
      expect(positions).not.toContain(1);
    },
    LONG,
  );

  it(
    'sends a live topic only its own events',
    async () => {
      const replayed = await product.run('replay', '--from', '1', '--to', 'cadastre.workspaces', '--yes');
      expect(replayed.stdout).toBe(`Sent ${live.length} events to cadastre.workspaces.\n`);
      expect(positionsOf(await readWholeTopic(kafka.brokers, 'cadastre.workspaces'))).toEqual(
        positionsOf([...live, ...live]),
      );
    },
    LONG,
  );
});

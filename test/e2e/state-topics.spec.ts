import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FollowerRunner } from '#storage/event-store';
import { MessageSender } from '#storage/message-log';
import { ALL_ORGANIZATIONS } from '#organizations/organizations';
import { createStateTopicsFollower, STATE_TOPICS } from '#api/state-topics';
import { publishedResources } from '../../apps/published-resources.js';
import { waitForFollowers } from '../support/event-log.js';
import { readWholeTopic, startKafka, TOPIC_SETTINGS, toTable, type TestKafka } from '../support/kafka/index.js';
import { addKey, LINUX, makeProvider, pathOfProvider, publishVersion } from '../support/registry.js';
import {
  RECOVERABLE_TEST_KINDS,
  type RecoverableTestItem,
  type RecoverableTestKind,
} from '../support/recoverable-kinds.js';
import { purgeItem, recoverItem } from '../support/recovery.js';
import { makeSigner } from '../support/releases.js';
import {
  bindTags,
  expectStatus,
  flatTags,
  grantProjectAccess,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeRun,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { readShownDocuments } from '../support/shown-documents.js';
import { quiet } from '../support/silent-logger.js';
import { makeVariable } from '../support/variables.js';

/** Names that no random id or key contains: a short one occurred in a public key. */
const OWNER = 'olga-the-owner';
const FORGOTTEN = 'mia-who-leaves';
const SECRET = 'value-of-a-sensitive-variable';
const TOPICS = ['organizations.state', 'workspaces.state', 'tags.state', 'registry.state'] as const;

let kafka: TestKafka;
let server: TestServer;
let acme: SeededOrganization;
let owner: SeededMember;
let runner: FollowerRunner | null = null;
let sender: MessageSender;
let prefix = 'site';

/** Starts the publisher of state topics, as the process `publisher` does. */
const startPublishing = (): void => {
  sender = new MessageSender({ brokers: kafka.brokers, clientId: 'test' }, quiet, `${prefix}.state-topics`);
  const follower = createStateTopicsFollower({
    resources: publishedResources,
    organizations: ALL_ORGANIZATIONS,
    projections: server.store.projections,
    sender,
    origin: { source: 'https://cadastre.example', prefix },
    settings: TOPIC_SETTINGS,
    clock: server.runtime.clock,
  });
  runner = new FollowerRunner(server.store, follower, quiet);
  runner.start();
};

const stopPublishing = async (): Promise<void> => {
  await runner?.stop();
  runner = null;
  await sender.disconnect();
};

const readMessages = async () => {
  await waitForFollowers(server.store, STATE_TOPICS);
  return Promise.all(TOPICS.map((topic) => readWholeTopic(kafka.brokers, `${prefix}.${topic}`)));
};

const readTables = async () => {
  const messages = await readMessages();
  return Object.fromEntries(TOPICS.map((topic, n) => [topic, toTable(messages[n] ?? [])]));
};

const expectTopicsLikeApi = async (): Promise<void> => {
  const [tables, documents] = [await readTables(), await readShownDocuments(owner, 'acme')];
  for (const topic of TOPICS) expect([topic, tables[topic]]).toEqual([topic, documents[topic]]);
};

const workspacePath = (id: string, action: string): string => `/api/v2/workspaces/${id}/actions/${action}`;

beforeAll(async () => {
  kafka = await startKafka();
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
  owner = await makeMember(server, 'acme', OWNER, [acme.ownersTeam]);
  for (let n = 0; n < 5; n += 1) {
    const id = await makeWorkspace(
      owner,
      'acme',
      `ws-${n}`,
      {},
      { 'tag-bindings': { data: [] }, tags: flatTags(`t-${n}`) },
    );
    await makeVariable(owner, `/api/v2/workspaces/${id}/vars`, { key: 'key', value: SECRET, sensitive: true });
    for (let change = 0; change < 20; change += 1) {
      expectStatus(await owner.post(workspacePath(id, 'lock'), { reason: `change ${change}` }), 200);
      if (change < 19) expectStatus(await owner.post(workspacePath(id, 'unlock')), 200);
    }
  }
}, 120_000);

afterAll(async () => {
  if (runner) await stopPublishing();
  await server?.close();
  await kafka?.stop();
});

describe('the state topics', () => {
  it('contain the document of each resource once, if Kafka is configured after many changes', async () => {
    startPublishing();
    await expectTopicsLikeApi();
    const [, workspaces = []] = await readMessages();
    expect(workspaces).toHaveLength(5);
    expect(workspaces[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      ce_type: 'cadastre.state.workspaces.v1',
      ce_source: 'https://cadastre.example',
      ce_organization: acme.id,
      ce_schemaversion: '1',
      ce_version: expect.stringMatching(/^[1-9][0-9]*$/),
      ce_position: expect.stringMatching(/^[1-9][0-9]*$/),
    });
  });

  it('follow changes of resources, and of everything that their documents show', async () => {
    const project = await makeProject(owner, 'acme', 'network');
    const team = await makeTeam(owner, 'acme', 'readers');
    await grantProjectAccess(owner, team, project, 'read');
    await makeReservedTagKey(owner, 'acme', 'stage', { 'disable-overrides': true });
    const id = await makeWorkspace(owner, 'acme', 'core', {}, { project: { data: { type: 'projects', id: project } } });
    await bindTags(owner, `workspaces/${id}`, { stage: 'dev', cost: '42' });
    await makeConfigurationVersion(owner, id);
    await makeRun(owner, id);
    await expectTopicsLikeApi();

    await bindTags(owner, `projects/${project}`, { stage: 'prod' });
    expectStatus(
      await owner.patch(
        `/api/v2/projects/${project}`,
        resource('projects', {
          'default-execution-mode': 'local',
          'setting-overwrites': { 'default-execution-mode': true },
        }),
      ),
      200,
    );
    await expectTopicsLikeApi();

    expectStatus(
      await owner.patch('/api/v2/organizations/acme', resource('organizations', { 'cost-estimation-enabled': true })),
      200,
    );
    const variable = await makeVariable(owner, `/api/v2/workspaces/${id}/vars`, { key: 'zone' });
    const mia = await makeMember(server, 'acme', FORGOTTEN, [team, acme.ownersTeam]);
    const spare = await makeWorkspace(owner, 'acme', 'spare');
    expectStatus(await mia.post(workspacePath(spare, 'lock'), { reason: 'repair' }), 200);
    await bindTags(mia, `workspaces/${id}`, { cost: '43' });
    await expectTopicsLikeApi();

    expectStatus(await owner.delete(`/api/v2/workspaces/${id}/vars/${variable.id}`), 204);
    expectStatus(await owner.delete(`/api/v2/teams/${team}`), 204);
    expectStatus(await server.delete(`/api/v2/admin/users/${mia.id}`), 204);
    await expectTopicsLikeApi();
  });

  it('contain providers with versions and platforms, without links to files', async () => {
    const signer = await makeSigner();
    expectStatus(await addKey(owner, 'acme', signer), 201);
    await makeProvider(owner, 'acme', 'widget');
    await publishVersion(owner, 'acme', 'widget', '1.0.0', signer, [LINUX]);
    await publishVersion(owner, 'acme', 'widget', '1.1.0', signer, [LINUX]);
    await expectTopicsLikeApi();
    const [, , , registry = []] = await readMessages();
    expect(JSON.stringify(registry)).not.toMatch(/uploads\/|files\//);

    expectStatus(await owner.delete(`${pathOfProvider('acme', 'widget')}/versions/1.0.0`), 204);
    await expectTopicsLikeApi();
  });

  it('contain neither secrets, nor names and addresses of people, also of those who were forgotten', async () => {
    const everything = JSON.stringify(await readMessages());
    expect(everything).not.toContain(SECRET);
    expect(everything).not.toContain(OWNER);
    expect(everything).not.toContain(FORGOTTEN);
    expect(everything).not.toMatch(/@(?:people|acme)\.test|atlasv1/);
  });

  it('get a message without a value for each resource that is deleted', async () => {
    const { data } = expectStatus(await owner.get('/api/v2/organizations/acme/workspaces?search[name]=core'), 200).body;
    expectStatus(await owner.delete(`/api/v2/workspaces/${data[0].id}`), 204);
    await expectTopicsLikeApi();
    const [, workspaces = [], tags = []] = await readMessages();
    for (const messages of [workspaces, tags]) {
      const last = messages.findLast(({ key }) => key === data[0].id);
      expect(last).toMatchObject({ value: null, headers: { ce_subject: data[0].id } });
    }
  });

  it('get the documents again of resources that are recovered', async () => {
    const signer = await makeSigner();
    expectStatus(await addKey(owner, 'acme', signer), 201);
    const team = await makeTeam(owner, 'acme', 'recoverers');
    const context = { organization: 'acme', defaultProject: acme.defaultProject, team, signer };
    const items = new Map<RecoverableTestKind, RecoverableTestItem>();
    for (const kind of RECOVERABLE_TEST_KINDS) {
      const { data } = expectStatus(await kind.create(owner, context, 'returning'), 201).body;
      items.set(kind, { id: data.id as string, name: 'returning' });
      await kind.fill(owner, context, { id: data.id as string, name: 'returning' });
    }
    const remove = async (): Promise<void> => {
      for (const [kind, item] of items) expectStatus(await owner.delete(kind.pathOf(context, item)), 204);
      await expectTopicsLikeApi();
    };
    await expectTopicsLikeApi();
    await remove();
    for (const { id } of items.values()) expectStatus(await recoverItem(owner, id), 200);
    await expectTopicsLikeApi();
    await remove();
    for (const { id } of items.values()) expectStatus(await purgeItem(owner, id), 204);
    await expectTopicsLikeApi();
    const messages = await readMessages();
    // Variable sets have no state topic. Bindings of a workspace or a project have its key in another topic.
    for (const [n, kind] of [
      [0, 'projects'],
      [1, 'workspaces'],
      [3, 'registry-providers'],
    ] as const) {
      const id = [...items].find(([one]) => one.kind === kind)?.[1].id;
      const values = (messages[n] ?? []).filter(({ key }) => key === id).map(({ value }) => value !== null);
      expect([kind, values.filter((isShown, at) => isShown !== values[at - 1])]).toEqual([
        kind,
        [true, false, true, false],
      ]);
    }
  });

  it('keep the order of each key, and name rising versions and positions', async () => {
    for (const messages of await readMessages())
      for (const [, own] of Map.groupBy(messages, ({ key }) => key)) {
        for (const header of ['ce_position', 'ce_version'] as const) {
          const numbers = own.flatMap(({ headers }) =>
            headers[header] === undefined ? [] : [Number(headers[header])],
          );
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        }
      }
  });

  it('are filled again after they were deleted', async () => {
    await stopPublishing();
    prefix = 'other';
    startPublishing();
    await makeWorkspace(owner, 'acme', 'wakes-the-follower');
    await expectTopicsLikeApi();
  });

  it('lose all documents of an organization that is deleted', async () => {
    await makeOrganization(server, 'rest');
    expectStatus(await server.delete('/api/v2/organizations/acme'), 204);
    const tables = await readTables();
    expect(TOPICS.map((topic) => tables[topic]?.size)).toEqual([3, 0, 1, 0]);
  });
});

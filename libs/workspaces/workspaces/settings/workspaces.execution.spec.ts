import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeAgentPool,
  makeOrganization,
  makeProject,
  refusalOf,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let pool: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  pool = await makeAgentPool(server, 'acme', 'pool');
});

afterAll(() => server.close());

const PATH = '/api/v2/organizations/acme/workspaces';

let count = 0;
const newName = (): string => `ws-${(count += 1)}`;

const create = (attributes: object = {}, relationships?: object): Promise<ApiResponse> =>
  server.post(PATH, resource('workspaces', { name: newName(), ...attributes }, relationships));
const createWithAttributes = async (attributes: object = {}, relationships?: object): Promise<string> =>
  expectStatus(await create(attributes, relationships), 201).body.data.id as string;
const update = (id: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
  server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships));
const getAttributes = async (id: string): Promise<Readonly<Record<string, unknown>>> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes;
const at = (path: string): string => `/data/attributes/${path}`;

describe('the execution mode over HTTP', () => {
  const OWN = { 'setting-overwrites': { 'execution-mode': true, 'agent-pool': true } };
  const FOLLOWS = { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } };
  const agents = () => ({ 'execution-mode': 'agent', 'agent-pool-id': pool });
  const MUST = [at('agent-pool-id'), "Agent pool must be specified when using 'agent' execution mode"];
  const MUST_NOT = [at('agent-pool-id'), "Agent pool must not be specified unless using 'agent' execution mode"];
  const runsIn = async (id: string) => {
    const { attributes, relationships } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data;
    return [attributes['execution-mode'], attributes.operations, relationships['agent-pool'].data?.id ?? null];
  };

  it.each([
    [{ operations: true }, 'remote', true],
    [{ operations: false }, 'local', false],
    [{ 'execution-mode': 'remote' }, 'remote', true],
    [{ 'execution-mode': 'local' }, 'local', false],
  ])('%j is a mode of the workspace’s own', async (attributes, mode, operations) => {
    const created = await createWithAttributes(attributes);
    const updated = await createWithAttributes();
    expectStatus(await update(updated, attributes), 200);
    for (const id of [created, updated]) {
      expect(await runsIn(id)).toEqual([mode, operations, null]);
      expect(await getAttributes(id)).toMatchObject(OWN);
    }
  });

  it('refuses both names of the mode in one request', async () => {
    const twice = { operations: true, 'execution-mode': 'remote' };
    const problem = [at('operations'), 'Operations must not be given together with execution mode'];
    expect(refusalOf(await create(twice))).toEqual(problem);
    expect(refusalOf(await update(await createWithAttributes(), twice))).toEqual(problem);
  });

  it('must be in the request if the overwrites say that it is the workspace’s own', async () => {
    const overwrites = { 'setting-overwrites': { 'execution-mode': true } };
    const problem = [at('execution-mode'), 'Execution mode must be given when setting overwrites names it'];
    expect(refusalOf(await create(overwrites))).toEqual(problem);
    expect(refusalOf(await update(await createWithAttributes(), overwrites))).toEqual(problem);
  });

  it('has one agent pool in agent mode, and none in other modes', async () => {
    const id = await createWithAttributes(agents());
    expect(await runsIn(id)).toEqual(['agent', true, pool]);
    expect(await getAttributes(id)).toMatchObject(OWN);
    expect(refusalOf(await create({ 'execution-mode': 'agent' }))).toEqual(MUST);
    expect(refusalOf(await update(await createWithAttributes(), { 'execution-mode': 'agent' }))).toEqual(MUST);
    expect(refusalOf(await update(id, { 'agent-pool-id': null }))).toEqual(MUST);
    for (const otherPool of [
      { 'execution-mode': 'remote' },
      { 'execution-mode': 'local' },
      { operations: true },
      { operations: false },
      {},
    ]) {
      expect(refusalOf(await create({ ...otherPool, 'agent-pool-id': pool }))).toEqual(MUST_NOT);
      expect(refusalOf(await update(await createWithAttributes(), { ...otherPool, 'agent-pool-id': pool }))).toEqual(
        MUST_NOT,
      );
    }
    expect(refusalOf(await create({ 'execution-mode': 'agent', 'agent-pool-id': 'apool-none' }))[0]).toBe(
      at('agent-pool-id'),
    );
    expectStatus(await update(id, { operations: true }), 200);
    expect(await runsIn(id)).toEqual(['remote', true, null]);
  });

  it('is inherited from the project, and otherwise from the organization', async () => {
    const project = await makeProject(server, 'acme', 'Followed');
    const into = { project: { data: { type: 'projects', id: project } } };
    const otherPool = await makeAgentPool(server, 'acme', 'other');
    const id = await createWithAttributes({}, into);
    const own = await createWithAttributes({ 'execution-mode': 'local' }, into);
    const defaults = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool };
    expectStatus(await server.patch(`/api/v2/projects/${project}`, resource('projects', defaults)), 200);
    expect([await runsIn(id), await runsIn(own)]).toEqual([
      ['agent', true, pool],
      ['local', false, null],
    ]);

    // The workspace has its own pool in the inherited mode, like workspaces that are created in the project or moved to
    // it.
    expectStatus(await update(id, { 'agent-pool-id': otherPool }), 200);
    expect(await runsIn(id)).toEqual(['agent', true, otherPool]);
    expect(await getAttributes(id)).toMatchObject({
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': true },
    });
    expect(await runsIn(await createWithAttributes({ 'agent-pool-id': otherPool }, into))).toEqual([
      'agent',
      true,
      otherPool,
    ]);
    const movedWorkspace = await createWithAttributes();
    expectStatus(await update(movedWorkspace, { 'agent-pool-id': otherPool }, into), 200);
    expect(await runsIn(movedWorkspace)).toEqual(['agent', true, otherPool]);
    expectStatus(await update(id, { 'agent-pool-id': null }), 200);
    expect(await runsIn(id)).toEqual(['agent', true, pool]);
    expect(refusalOf(await update(id, { 'setting-overwrites': { 'agent-pool': true } }))).toEqual(MUST);

    expectStatus(await update(own, { ...FOLLOWS, 'execution-mode': 'local' }), 200);
    expect(await runsIn(own)).toEqual(['agent', true, pool]);
    expectStatus(
      await server.patch(`/api/v2/projects/${project}`, resource('projects', { 'default-execution-mode': 'local' })),
      200,
    );
    expect([await runsIn(id), await runsIn(own), await runsIn(movedWorkspace)]).toEqual([
      ['local', false, null],
      ['local', false, null],
      ['local', false, null],
    ]);
    expect(refusalOf(await update(own, { 'agent-pool-id': pool }))).toEqual(MUST_NOT);
  });
});

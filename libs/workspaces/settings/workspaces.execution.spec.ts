import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeAgentPool,
  makeOrganization,
  makeProject,
  refusalOf,
  resource,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../test/support/server.js';

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
const made = async (attributes: object = {}, relationships?: object): Promise<string> =>
  expectStatus(await create(attributes, relationships), 201).body.data.id as string;
const update = (id: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
  server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships));
const shown = async (id: string): Promise<Readonly<Record<string, unknown>>> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes;
const at = (path: string): string => `/data/attributes/${path}`;

describe('where runs are executed', () => {
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
  ])('%j is its own word', async (attributes, mode, operations) => {
    const created = await made(attributes);
    const updated = await made();
    expectStatus(await update(updated, attributes), 200);
    for (const id of [created, updated]) {
      expect(await runsIn(id)).toEqual([mode, operations, null]);
      expect(await shown(id)).toMatchObject(OWN);
    }
  });

  it('is not said by both names', async () => {
    const twice = { operations: true, 'execution-mode': 'remote' };
    const problem = [at('operations'), 'Operations must not be given together with execution mode'];
    expect(refusalOf(await create(twice))).toEqual(problem);
    expect(refusalOf(await update(await made(), twice))).toEqual(problem);
  });

  it('is said where the overwrites say that it is', async () => {
    const named = { 'setting-overwrites': { 'execution-mode': true } };
    const problem = [at('execution-mode'), 'Execution mode must be given when setting overwrites names it'];
    expect(refusalOf(await create(named))).toEqual(problem);
    expect(refusalOf(await update(await made(), named))).toEqual(problem);
  });

  it('are agents of one pool, which no other mode has', async () => {
    const id = await made(agents());
    expect(await runsIn(id)).toEqual(['agent', true, pool]);
    expect(await shown(id)).toMatchObject(OWN);
    expect(refusalOf(await create({ 'execution-mode': 'agent' }))).toEqual(MUST);
    expect(refusalOf(await update(await made(), { 'execution-mode': 'agent' }))).toEqual(MUST);
    expect(refusalOf(await update(id, { 'agent-pool-id': null }))).toEqual(MUST);
    for (const other of [
      { 'execution-mode': 'remote' },
      { 'execution-mode': 'local' },
      { operations: true },
      { operations: false },
      {},
    ]) {
      expect(refusalOf(await create({ ...other, 'agent-pool-id': pool }))).toEqual(MUST_NOT);
      expect(refusalOf(await update(await made(), { ...other, 'agent-pool-id': pool }))).toEqual(MUST_NOT);
    }
    expect(refusalOf(await create({ 'execution-mode': 'agent', 'agent-pool-id': 'apool-none' }))[0]).toBe(
      at('agent-pool-id'),
    );
    expectStatus(await update(id, { operations: true }), 200);
    expect(await runsIn(id)).toEqual(['remote', true, null]);
  });

  it('are those of the project, else of the organization', async () => {
    const project = await makeProject(server, 'acme', 'Followed');
    const into = { project: { data: { type: 'projects', id: project } } };
    const other = await makeAgentPool(server, 'acme', 'other');
    const id = await made({}, into);
    const own = await made({ 'execution-mode': 'local' }, into);
    const defaults = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool };
    expectStatus(await server.patch(`/api/v2/projects/${project}`, resource('projects', defaults)), 200);
    expect([await runsIn(id), await runsIn(own)]).toEqual([
      ['agent', true, pool],
      ['local', false, null],
    ]);

    // A pool of its own, in the mode that it follows: also of who is born or comes there.
    expectStatus(await update(id, { 'agent-pool-id': other }), 200);
    expect(await runsIn(id)).toEqual(['agent', true, other]);
    expect(await shown(id)).toMatchObject({ 'setting-overwrites': { 'execution-mode': false, 'agent-pool': true } });
    expect(await runsIn(await made({ 'agent-pool-id': other }, into))).toEqual(['agent', true, other]);
    const comes = await made();
    expectStatus(await update(comes, { 'agent-pool-id': other }, into), 200);
    expect(await runsIn(comes)).toEqual(['agent', true, other]);
    expectStatus(await update(id, { 'agent-pool-id': null }), 200);
    expect(await runsIn(id)).toEqual(['agent', true, pool]);
    expect(refusalOf(await update(id, { 'setting-overwrites': { 'agent-pool': true } }))).toEqual(MUST);

    expectStatus(await update(own, { ...FOLLOWS, 'execution-mode': 'local' }), 200);
    expect(await runsIn(own)).toEqual(['agent', true, pool]);
    expectStatus(
      await server.patch(`/api/v2/projects/${project}`, resource('projects', { 'default-execution-mode': 'local' })),
      200,
    );
    expect([await runsIn(id), await runsIn(own), await runsIn(comes)]).toEqual([
      ['local', false, null],
      ['local', false, null],
      ['local', false, null],
    ]);
    expect(refusalOf(await update(own, { 'agent-pool-id': pool }))).toEqual(MUST_NOT);
  });
});

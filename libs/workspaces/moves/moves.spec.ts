import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../test/support/cost.js';
import { logLength } from '../../../test/support/event-log.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  related,
  resource,
  type SeededMember,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../index.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

let count = 0;
const unique = (name: string): string => `${name}-${(count += 1)}`;

const projectNamed = (name: string): Promise<string> => makeProject(server, 'acme', unique(name));
const workspaceIn = (project: string): Promise<string> =>
  makeWorkspace(server, 'acme', unique('workspace'), {}, { project: { data: { type: 'projects', id: project } } });

const move = (api: ApiTestClient, project: string, ...workspaces: readonly string[]) =>
  api.post(`/api/v2/projects/${project}/relationships/workspaces`, related('workspaces', ...workspaces));

const projectOf = async (workspace: string): Promise<string> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.relationships.project.data
    .id as string;

const holds = async (project: string): Promise<number> =>
  (await server.get(`/api/v2/projects/${project}`)).body.data.attributes['workspace-count'] as number;

describe('moving workspaces into a project', () => {
  it('moves each of them once, with an event each, in one append', async () => {
    const [from, to] = [await projectNamed('from'), await projectNamed('to')];
    const moved = [await workspaceIn(from), await workspaceIn(from), await workspaceIn(to)] as const;
    const length = await logLength(server.store);
    const answer = expectStatus(await move(server, to, ...moved, moved[0]), 204);
    expect(answer.text).toBe('');
    for (const id of moved) expect(await projectOf(id)).toBe(to);
    expect([await holds(from), await holds(to)]).toEqual([0, 3]);
    expect(await logLength(server.store)).toBe(length + 2);
    const events = await server.store.stream(moved[0]);
    expect(events.at(-1)).toMatchObject({ type: 'WorkspaceMoved', data: { from, to } });
    expectStatus(await move(server, to, ...moved), 204);
    expectStatus(await move(server, to), 204);
    expect(await logLength(server.store)).toBe(length + 2);
  });

  it('costs two round trips, however many they are', async () => {
    const [from, to] = [await projectNamed('from'), await projectNamed('to')];
    const workspaces = await Promise.all([1, 2, 3, 4].map(() => workspaceIn(from)));
    const moved = await costOf(server, () => move(server, to, ...workspaces));
    expect(moved).toMatchObject({ status: 204, roundTrips: 2 });
  });

  it('moves all of them or none', async () => {
    const [from, to] = [await projectNamed('from'), await projectNamed('to')];
    const mine = await workspaceIn(from);
    await makeOrganization(server, unique('other'));
    const foreign = await makeWorkspace(server, `other-${count}`, 'theirs');
    const length = await logLength(server.store);
    for (const missing of ['ws-none', foreign]) {
      const { body } = expectStatus(await move(server, to, mine, missing), 404);
      expect(body.errors[0].detail).toBe(`Workspace ${missing} not found`);
    }
    expect(await projectOf(mine)).toBe(from);
    expect(await logLength(server.store)).toBe(length);
  });

  it('wants a body that names workspaces, and a project that is there', async () => {
    const to = await projectNamed('to');
    const path = `/api/v2/projects/${to}/relationships/workspaces`;
    expectStatus(await server.post(path), 422);
    expectStatus(await server.post(path, { data: [{ type: 'workspaces' }] }), 422);
    expectStatus(await server.post(path, related('projects', to)), 422);
    const many = Array.from({ length: 501 }, (_, index) => `ws-${index}`);
    expect(expectStatus(await move(server, to, ...many), 422).body.errors[0].detail).toContain('at most 500');
    expectStatus(await move(server, 'prj-none', await workspaceIn(to)), 404);
  });

  it('leaves every workspace in one place where two move them at once', async () => {
    const [from, left, right] = [await projectNamed('from'), await projectNamed('left'), await projectNamed('right')];
    const workspaces = await Promise.all([1, 2, 3, 4, 5].map(() => workspaceIn(from)));
    const answers = await Promise.all(
      [left, right, left, right].map((to, index) =>
        move(server, to, ...(index % 3 === 0 ? workspaces : workspaces.toReversed())),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    const places = new Set(await Promise.all(workspaces.map(projectOf)));
    expect(places.size).toBe(1);
    expect([await holds(left), await holds(right)].toSorted((a, b) => a - b)).toEqual([0, 5]);
    expect(await holds(from)).toBe(0);
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });

  it('asks both projects', async () => {
    const [from, to, elsewhere] = [
      await projectNamed('from'),
      await projectNamed('to'),
      await projectNamed('elsewhere'),
    ];
    const mover = async (
      ...given: readonly [project: string, access: string, attributes?: object][]
    ): Promise<SeededMember> => {
      const team = await makeTeam(server, 'acme', unique('team'));
      for (const [project, access, attributes] of given)
        await grantProjectAccess(server, team, project, access, attributes);
      return makeMember(server, 'acme', unique('mover'), [team]);
    };
    const moves = { 'workspace-access': { move: true } };
    const both = await mover([from, 'custom', moves], [to, 'admin']);
    const there = await mover([from, 'write'], [to, 'admin']);
    const here = await mover([from, 'admin'], [to, 'write']);
    const workspace = await workspaceIn(from);
    for (const caller of [there, here]) {
      expectStatus(await move(caller, to, workspace), 404);
      const body = resource('workspaces', {}, { project: { data: { type: 'projects', id: to } } });
      expectStatus(await caller.patch(`/api/v2/workspaces/${workspace}`, body), 404);
    }
    expectStatus(await move(both, elsewhere, workspace), 404);
    expect(await projectOf(workspace)).toBe(from);
    expectStatus(await move(both, to, workspace), 204);
    expect(await projectOf(workspace)).toBe(to);
  });

  it('by the PATCH of one asks the same, and who may only move it changes nothing else on the way', async () => {
    const [from, to] = [await projectNamed('from'), await projectNamed('to')];
    const team = await makeTeam(server, 'acme', unique('team'));
    for (const project of [from, to]) {
      await grantProjectAccess(server, team, project, 'custom', { 'workspace-access': { move: true } });
    }
    const mover = await makeMember(server, 'acme', unique('mover'), [team]);
    const workspace = await workspaceIn(from);
    const into = (attributes: object) =>
      resource('workspaces', attributes, { project: { data: { type: 'projects', id: to } } });
    expectStatus(await mover.patch(`/api/v2/workspaces/${workspace}`, into({ description: 'mine' })), 404);
    const { body } = expectStatus(await mover.patch(`/api/v2/workspaces/${workspace}`, into({})), 200);
    expect(body.data.relationships.project.data.id).toBe(to);
  });

  it('is not for who has been given the workspace alone', async () => {
    const [from, to] = [await projectNamed('from'), await projectNamed('to')];
    const team = await makeTeam(server, 'acme', unique('team'));
    const workspace = await workspaceIn(from);
    await grantWorkspaceAccess(server, team, workspace, 'admin');
    await grantProjectAccess(server, team, to, 'admin');
    const caller = await makeMember(server, 'acme', unique('member'), [team]);
    expectStatus(await move(caller, to, workspace), 404);
    expect(await projectOf(workspace)).toBe(from);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { costOf } from '../../../../test/support/cost.js';
import { logLength } from '../../../../test/support/event-log.js';
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
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../index.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

let count = 0;
const unique = (name: string): string => `${name}-${(count += 1)}`;

const makeNamedProject = (name: string): Promise<string> => makeProject(server, 'acme', unique(name));
const workspaceIn = (project: string): Promise<string> =>
  makeWorkspace(server, 'acme', unique('workspace'), {}, { project: { data: { type: 'projects', id: project } } });

const move = (api: ApiTestClient, project: string, ...workspaces: readonly string[]) =>
  api.post(`/api/v2/projects/${project}/relationships/workspaces`, related('workspaces', ...workspaces));

const projectOf = async (workspace: string): Promise<string> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.relationships.project.data
    .id as string;

const countWorkspaces = async (project: string): Promise<number> =>
  (await server.get(`/api/v2/projects/${project}`)).body.data.attributes['workspace-count'] as number;

describe('moving workspaces into a project', () => {
  it('moves each of them once, with an event each, in one append', async () => {
    const [from, to] = [await makeNamedProject('from'), await makeNamedProject('to')];
    const workspaces = [await workspaceIn(from), await workspaceIn(from), await workspaceIn(to)] as const;
    const length = await logLength(server.store);
    const answer = expectStatus(await move(server, to, ...workspaces, workspaces[0]), 204);
    expect(answer.text).toBe('');
    for (const id of workspaces) expect(await projectOf(id)).toBe(to);
    expect([await countWorkspaces(from), await countWorkspaces(to)]).toEqual([0, 3]);
    expect(await logLength(server.store)).toBe(length + 2);
    const events = await server.store.log.stream(workspaces[0]);
    expect(events.at(-1)).toMatchObject({ type: 'WorkspaceMoved', data: { from, to } });
    expectStatus(await move(server, to, ...workspaces), 204);
    expectStatus(await move(server, to), 204);
    expect(await logLength(server.store)).toBe(length + 2);
  });

  it('costs two round trips for any number of workspaces', async () => {
    const [from, to] = [await makeNamedProject('from'), await makeNamedProject('to')];
    const workspaces = await Promise.all([1, 2, 3, 4].map(() => workspaceIn(from)));
    const cost = await costOf(server, () => move(server, to, ...workspaces));
    expect(cost).toMatchObject({ status: 204, roundTrips: 2 });
  });

  it('moves all of them or none', async () => {
    const [from, to] = [await makeNamedProject('from'), await makeNamedProject('to')];
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

  it('requires a body with workspaces, and a project that exists', async () => {
    const to = await makeNamedProject('to');
    const path = `/api/v2/projects/${to}/relationships/workspaces`;
    expectStatus(await server.post(path), 422);
    expectStatus(await server.post(path, { data: [{ type: 'workspaces' }] }), 422);
    expectStatus(await server.post(path, related('projects', to)), 422);
    const many = Array.from({ length: 501 }, (_, index) => `ws-${index}`);
    expect(expectStatus(await move(server, to, ...many), 422).body.errors[0].detail).toContain('at most 500');
    expectStatus(await move(server, 'prj-none', await workspaceIn(to)), 404);
  });

  it('leaves each workspace in one project if two callers move it at the same time', async () => {
    const [from, left, right] = [
      await makeNamedProject('from'),
      await makeNamedProject('left'),
      await makeNamedProject('right'),
    ];
    const workspaces = await Promise.all([1, 2, 3, 4, 5].map(() => workspaceIn(from)));
    const answers = await Promise.all(
      [left, right, left, right].map((to, index) =>
        move(server, to, ...(index % 3 === 0 ? workspaces : workspaces.toReversed())),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    const projects = new Set(await Promise.all(workspaces.map(projectOf)));
    expect(projects.size).toBe(1);
    expect([await countWorkspaces(left), await countWorkspaces(right)].toSorted((a, b) => a - b)).toEqual([0, 5]);
    expect(await countWorkspaces(from)).toBe(0);
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });

  it('requires admin access to a workspace that the new project lets be destroyed', async () => {
    const [from, to] = [await makeNamedProject('from'), await makeNamedProject('to')];
    const duration = resource('projects', { 'auto-destroy-activity-duration': '1h' });
    expectStatus(await server.patch(`/api/v2/projects/${to}`, duration), 200);
    const team = await makeTeam(server, 'acme', unique('team'));
    for (const project of [from, to]) {
      await grantProjectAccess(server, team, project, 'custom', { 'workspace-access': { move: true, runs: 'apply' } });
    }
    const mover = await makeMember(server, 'acme', unique('mover'), [team]);
    const [inheriting, own] = [await workspaceIn(from), await workspaceIn(from)];
    const never = resource('workspaces', { 'inherits-project-auto-destroy': false });
    expectStatus(await server.patch(`/api/v2/workspaces/${own}`, never), 200);
    const patch = (id: string) =>
      mover.patch(
        `/api/v2/workspaces/${id}`,
        resource('workspaces', {}, { project: { data: { type: 'projects', id: to } } }),
      );
    expectStatus(await patch(inheriting), 404);
    expectStatus(await move(mover, to, own, inheriting), 404);
    expect([await projectOf(inheriting), await projectOf(own)]).toEqual([from, from]);
    expectStatus(await move(mover, to, own), 204);
    await grantWorkspaceAccess(server, team, inheriting, 'admin');
    expectStatus(await patch(inheriting), 200);
    expectStatus(await move(mover, to, inheriting), 204);
  });

  it('requires permissions on both projects', async () => {
    const [from, to, elsewhere] = [
      await makeNamedProject('from'),
      await makeNamedProject('to'),
      await makeNamedProject('elsewhere'),
    ];
    const mover = async (
      ...accesses: readonly [project: string, access: string, attributes?: object][]
    ): Promise<SeededMember> => {
      const team = await makeTeam(server, 'acme', unique('team'));
      for (const [project, access, attributes] of accesses)
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

  it('by a PATCH requires the same, and a caller that may only move cannot change other attributes with it', async () => {
    const [from, to] = [await makeNamedProject('from'), await makeNamedProject('to')];
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

  it('is refused to callers with access to the workspace alone', async () => {
    const [from, to] = [await makeNamedProject('from'), await makeNamedProject('to')];
    const team = await makeTeam(server, 'acme', unique('team'));
    const workspace = await workspaceIn(from);
    await grantWorkspaceAccess(server, team, workspace, 'admin');
    await grantProjectAccess(server, team, to, 'admin');
    const caller = await makeMember(server, 'acme', unique('member'), [team]);
    expectStatus(await move(caller, to, workspace), 404);
    expect(await projectOf(workspace)).toBe(from);
  });
});

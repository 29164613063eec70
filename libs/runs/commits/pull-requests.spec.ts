import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCommitsJobs } from './index.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { runJobs } from '../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
  resource,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

let gitea: Gitea;
let server: TestServer;
let token: string;
let repositories = 0;

beforeAll(async () => {
  gitea = await startGitea();
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeRemotePool(server, 'acme', 'edge');
  ({ token } = await makeOauthClient(server, 'acme', gitea));
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

const run = async (...names: readonly string[]): Promise<void> => {
  const jobs = createCommitsJobs({ ...server.runtime, ...server.runtime.settings, store: server.store });
  await runJobs(jobs, ...names);
};

const poll = (): Promise<void> => run('repository_commits', 'commit_fetches');
const reportStatuses = async (): Promise<void> => {
  await waitForFollowers(server.store, 'changed_runs');
  await run('commit_statuses');
};

/** Creates a repository and a workspace that follows it. */
const follow = async (name: string, attributes: object = {}) => {
  repositories += 1;
  const identifier = await gitea.makeRepository(`proposed-${repositories}`, { 'main.tf': 'terraform {}\n' });
  const workspace = await makeWorkspace(server, 'acme', name, {
    'vcs-repo': { identifier, 'oauth-token-id': token },
    'queue-all-runs': true,
    'auto-apply': true,
    ...attributes,
  });
  await poll();
  return { identifier, workspace };
};

const propose = async (identifier: string, branch: string, base = 'main'): Promise<number> => {
  await gitea.commit(identifier, branch, { [`${branch}.tf`]: '#\n' }, `Propose ${branch}`);
  const pull = { head: branch, base, title: `Add ${branch}` };
  return (await gitea.call('POST', `/repos/${identifier}/pulls`, pull)).number as number;
};

type Listed = {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships: { readonly 'configuration-version': { readonly data: { readonly id: string } } };
};

/** Returns the runs of a workspace besides the run of its first commit, the newest first. */
const listRuns = async (workspace: string): Promise<readonly Listed[]> => {
  const { data } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
  return (data as readonly Listed[]).filter(({ attributes }) => attributes['message'] !== 'Add files\n');
};

const listStates = async (workspace: string): Promise<readonly unknown[]> =>
  (await listRuns(workspace)).map(({ attributes: { message, status } }) => [message, status]);

describe('a pull request', () => {
  it('gets a plan of its newest commit that is never applied, and shows where it is from', async () => {
    const { identifier, workspace } = await follow('proposals');
    const number = await propose(identifier, 'topic');
    await poll();
    await poll();
    const [run, ...others] = await listRuns(workspace);
    expect([run?.attributes, others]).toMatchObject([
      { message: 'Propose topic\n', 'plan-only': true, 'auto-apply': false },
      [],
    ]);
    const path = `/api/v2/configuration-versions/${run?.relationships['configuration-version'].data.id}`;
    const version = expectStatus(await server.get(`${path}?include=ingress_attributes`), 200).body;
    expect(version.data.attributes).toMatchObject({ speculative: true, status: 'uploaded' });
    expect(version.included[0].attributes).toMatchObject({
      branch: 'topic',
      'is-pull-request': true,
      'pull-request-number': number,
      'pull-request-title': 'Add topic',
      'pull-request-url': `${gitea.url}/${identifier}/pulls/${number}`,
      'sender-username': gitea.user,
    });
  });

  it('gets another plan when it changes, which cancels the older one', async () => {
    const { identifier, workspace } = await follow('updated');
    await propose(identifier, 'topic');
    await poll();
    await gitea.commit(identifier, 'topic', { 'more.tf': '#\n' }, 'More');
    await poll();
    const [newest, oldest] = await listStates(workspace);
    expect(newest).not.toEqual(['More\n', 'canceled']);
    expect(oldest).toEqual(['Propose topic\n', 'canceled']);
  });

  it('gets another plan of the same commit when it is opened again, or is to be merged into another branch', async () => {
    const { identifier, workspace } = await follow('reopened');
    await gitea.commit(identifier, 'release', { 'release.tf': '#\n' }, 'Release');
    const number = await propose(identifier, 'topic', 'release');
    await poll();
    expect(await listStates(workspace)).toEqual([]);
    const update = (change: object) => gitea.call('PATCH', `/repos/${identifier}/pulls/${number}`, change);
    await update({ base: 'main' });
    await poll();
    await poll();
    expect(await listRuns(workspace)).toMatchObject([{ attributes: { message: 'Propose topic\n' } }]);
    await update({ state: 'closed' });
    await poll();
    await update({ state: 'open' });
    await poll();
    await poll();
    const [newest, oldest, ...others] = await listStates(workspace);
    expect(newest).not.toEqual(['Propose topic\n', 'canceled']);
    expect([oldest, others]).toEqual([['Propose topic\n', 'canceled'], []]);
  });

  it('gets another plan of a commit that it had before, when it is pushed back to it', async () => {
    const { identifier, workspace } = await follow('pushed-back');
    await propose(identifier, 'topic');
    await poll();
    const branch = await gitea.call('GET', `/repos/${identifier}/branches/topic`);
    await gitea.commit(identifier, 'topic', { 'more.tf': '#\n' }, 'More');
    await poll();
    await gitea.pushBack(identifier, 'topic', branch.commit.id);
    await poll();
    await poll();
    const [newest, ...others] = await listStates(workspace);
    expect(newest).toEqual(['Propose topic\n', expect.not.stringMatching('canceled')]);
    expect(others).toEqual([
      ['More\n', 'canceled'],
      ['Propose topic\n', 'canceled'],
    ]);
  });

  it('keeps its older plans if the organization wants it', async () => {
    const update = (enabled: boolean) =>
      server.patch(
        '/api/v2/organizations/acme',
        resource('organizations', { 'speculative-plan-management-enabled': enabled }),
      );
    expectStatus(await update(false), 200);
    const { identifier, workspace } = await follow('kept');
    await propose(identifier, 'topic');
    await poll();
    await gitea.commit(identifier, 'topic', { 'more.tf': '#\n' }, 'More');
    await poll();
    expectStatus(await update(true), 200);
    expect((await listRuns(workspace)).map(({ attributes }) => attributes['status'])).not.toContain('canceled');
  });

  it('cancels its plans when it is closed, and its commit is planned and applied after the merge', async () => {
    const { identifier, workspace } = await follow('closed');
    const number = await propose(identifier, 'topic');
    await poll();
    const merge = { Do: 'fast-forward-only' };
    await gitea.call('POST', `/repos/${identifier}/pulls/${number}/merge`, merge);
    await poll();
    const [merged, proposed] = await listRuns(workspace);
    expect(proposed?.attributes).toMatchObject({ status: 'canceled', 'plan-only': true });
    expect(merged?.attributes).toMatchObject({ message: 'Propose topic\n', 'plan-only': false, 'auto-apply': true });
  });

  it('of a fork gets no plan, and the VCS events say why', async () => {
    const { identifier, workspace } = await follow('forked');
    const stranger = await gitea.makeFork(identifier, 'stranger');
    await stranger.commit(stranger.fork, 'proposal', { 'leak.tf': '#\n' }, 'Leak');
    const pull = { head: 'stranger:proposal', base: 'main', title: 'Leak' };
    await stranger.call('POST', `/repos/${identifier}/pulls`, pull);
    await poll();
    expect(await listRuns(workspace)).toEqual([]);
    const events = expectStatus(await server.get('/api/v2/organizations/acme/vcs-events'), 200).body.data;
    const messages = events.map(({ attributes }: Listed) => attributes['message']);
    expect(messages).toContainEqual(expect.stringMatching(/^Workspace forked does not run .*from other repositories/));
  });

  it('cannot be read if the account lacks the right, which a VCS event says once a day', async () => {
    const { identifier } = await follow('unreadable');
    await gitea.call('PATCH', `/repos/${identifier}`, { has_pull_requests: false });
    await poll();
    await poll();
    const path = '/api/v2/organizations/acme/vcs-events?filter[levels]=error';
    const messages = expectStatus(await server.get(path), 200).body.data.map(
      ({ attributes }: Listed) => attributes['message'],
    );
    const about = `The pull requests of ${identifier} cannot be read: `;
    expect(messages.filter((message: string) => message.startsWith(about))).toHaveLength(1);
  });

  it('gets no plan if the workspace wants none, if it is for another branch, or if it was open before', async () => {
    const off = await follow('without', { 'speculative-enabled': false });
    await propose(off.identifier, 'topic');
    const { identifier, workspace } = await follow('elsewhere');
    await gitea.commit(identifier, 'release', { 'release.tf': '#\n' });
    await propose(identifier, 'topic', 'release');
    await poll();
    const late = await makeWorkspace(server, 'acme', 'late', {
      'vcs-repo': { identifier, 'oauth-token-id': token, branch: 'release' },
      'queue-all-runs': true,
    });
    await poll();
    await poll();
    const planned = await Promise.all([off.workspace, workspace, late].map(listRuns));
    expect(planned.map((runs) => runs.filter(({ attributes }) => attributes['plan-only']))).toEqual([[], [], []]);
  });
});

describe('the status of a commit', () => {
  const listStatuses = async (identifier: string, sha: string): Promise<readonly unknown[]> => {
    const { statuses } = await gitea.call('GET', `/repos/${identifier}/commits/${sha}/status`);
    return ((statuses ?? []) as readonly { context: string; status: string; description: string }[])
      .map(({ context, status, description }) => [context, status, description])
      .toSorted();
  };

  const update = (attributes: object) =>
    server.patch('/api/v2/organizations/acme', resource('organizations', attributes));

  it('follows the runs of all workspaces, and leads to the run', async () => {
    const { identifier, workspace } = await follow('reported');
    await reportStatuses();
    expect(await listStatuses(identifier, 'main')).toEqual([['cadastre/acme', 'pending', 'Planning']]);
    const { data } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
    const [{ id }] = data;
    const [status] = (await gitea.call('GET', `/repos/${identifier}/commits/main/status`)).statuses;
    const { publicUrl } = server.runtime.settings;
    expect(status.target_url).toBe(`${publicUrl}/app/acme/workspaces/reported/runs/${id}`);
    expectStatus(await server.post(`/api/v2/runs/${id}/actions/cancel`), 202);
    await reportStatuses();
    expect(await listStatuses(identifier, 'main')).toEqual([['cadastre/acme', 'error', 'The plan was canceled']]);
  });

  it('is that of the newest run of each workspace, and is sent only when it changes', async () => {
    const { identifier, workspace } = await follow('repeated');
    const [first] = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data;
    await makeRun(server, workspace);
    await reportStatuses();
    const sha: string = (await gitea.call('GET', `/repos/${identifier}/branches/main`)).commit.id;
    const countSent = async (): Promise<number> =>
      (await gitea.call('GET', `/repos/${identifier}/statuses/${sha}`)).length;
    const sent = await countSent();
    expectStatus(await server.post(`/api/v2/runs/${first.id}/actions/cancel`), 202);
    await reportStatuses();
    expect(await listStatuses(identifier, 'main')).toEqual([['cadastre/acme', 'pending', 'Planning']]);
    expect(await countSent()).toBe(sent);
  });

  it('is one for each workspace if the organization wants it', async () => {
    expectStatus(await update({ 'aggregated-commit-status-enabled': false }), 200);
    const { identifier } = await follow('apart-1');
    await makeWorkspace(server, 'acme', 'apart-2', {
      'vcs-repo': { identifier, 'oauth-token-id': token },
      'queue-all-runs': true,
    });
    await poll();
    await reportStatuses();
    expectStatus(await update({ 'aggregated-commit-status-enabled': true }), 200);
    expect(await listStatuses(identifier, 'main')).toEqual([
      ['cadastre/acme/apart-1', 'pending', 'Planning'],
      ['cadastre/acme/apart-2', 'pending', 'Planning'],
    ]);
  });

  it('passes if no changed file concerns the workspace and the organization wants it', async () => {
    const passing = 'send-passing-statuses-for-untriggered-speculative-plans';
    const { identifier } = await follow('untouched', { 'working-directory': 'network' });
    const proposeFile = async (branch: string, path: string): Promise<string> => {
      await gitea.commit(identifier, branch, { [path]: '#\n' }, `Propose ${branch}`);
      const pull = { head: branch, base: 'main', title: `Add ${branch}` };
      return (await gitea.call('POST', `/repos/${identifier}/pulls`, pull)).head.sha as string;
    };
    const unwanted = await proposeFile('unwanted', 'docs/unwanted.md');
    await poll();
    expectStatus(await update({ [passing]: true }), 200);
    const untriggered = await proposeFile('untriggered', 'docs/readme.md');
    const triggered = await proposeFile('triggered', 'network/main.tf');
    await poll();
    await reportStatuses();
    const context = 'cadastre/acme/untouched';
    expect([await listStatuses(identifier, unwanted), await listStatuses(identifier, triggered)]).toEqual([
      [],
      [[context, 'pending', 'Planning']],
    ]);
    const passed = [[context, 'success', 'Not planned: no changed file matches']];
    expect(await listStatuses(identifier, untriggered)).toEqual(passed);
    await reportStatuses();
    expect(await gitea.call('GET', `/repos/${identifier}/statuses/${untriggered}`)).toHaveLength(1);
    expectStatus(await update({ 'aggregated-commit-status-enabled': true }), 200);
  });

  it('is not reported while the organization wants none, and is reported afterwards', async () => {
    expectStatus(await update({ 'commit-statuses-enabled': false }), 200);
    const { identifier } = await follow('silent');
    await reportStatuses();
    const silent = await listStatuses(identifier, 'main');
    expectStatus(await update({ 'commit-statuses-enabled': true }), 200);
    await reportStatuses();
    expect([silent, await listStatuses(identifier, 'main')]).toEqual([[], [['cadastre/acme', 'pending', 'Planning']]]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createCommitsJobs } from './index.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { startRunSite } from '../../../test/support/runs.js';
import { runJobs } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, makeWorkspace, reportBody, resource } from '../../../test/support/seeds.js';
import type { ApiTestClient, TestServer } from '../../../test/support/server.js';

let gitea: Gitea;
let server: TestServer;
let agents: ApiTestClient;
let token: string;
let repositories = 0;

beforeAll(async () => {
  gitea = await startGitea();
  ({ server, agents } = await startRunSite(REACHES_GIT_HOSTS));
  ({ token } = await makeOauthClient(server, 'acme', gitea));
  await allowComments(true);
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

const allowComments = async (isEnabled: boolean): Promise<void> => {
  const changes = resource('organizations', { 'pull-request-comments-enabled': isEnabled });
  expectStatus(await server.patch('/api/v2/organizations/acme', changes), 200);
};

const MINUTE_MS = 60_000;
let passedMs = 0;
const clock = { now: () => new Date(server.runtime.clock.now().getTime() + passedMs) };

/** Creates the jobs of a process that has just started. */
const createJobs = () =>
  createCommitsJobs({ ...server.runtime, ...server.runtime.settings, store: server.store, clock });

const run = (...names: readonly string[]): Promise<void> => runJobs(createJobs(), ...names);

const poll = (): Promise<void> => run('repository_commits', 'commit_fetches');

/** Comments after a minute. */
const comment = async (jobs = createJobs()): Promise<void> => {
  passedMs += MINUTE_MS;
  await waitForFollowers(server.store, 'changed_runs');
  await runJobs(jobs, 'pull_request_comments');
};

type Comment = { readonly id: number; readonly body: string; readonly user: { readonly login: string } };

const listComments = (identifier: string, number: number): Promise<readonly Comment[]> =>
  gitea.call('GET', `/repos/${identifier}/issues/${number}/comments`);

const readComment = async (identifier: string, number: number): Promise<string> => {
  const [written, ...others] = await listComments(identifier, number);
  expect(others).toEqual([]);
  return written?.body ?? '';
};

/** Creates a repository, workspaces that follow it, and a pull request that they plan. */
const propose = async (...names: readonly string[]) => {
  repositories += 1;
  const identifier = await gitea.makeRepository(`commented-${repositories}`, { 'main.tf': 'terraform {}\n' });
  for (const name of names)
    await makeWorkspace(server, 'acme', name, {
      'vcs-repo': { identifier, 'oauth-token-id': token },
      'queue-all-runs': true,
    });
  await poll();
  await gitea.commit(identifier, 'topic', { 'topic.tf': '#\n' }, 'Propose a topic');
  const pull = { head: 'topic', base: 'main', title: 'Add a topic' };
  const { number, head } = await gitea.call('POST', `/repos/${identifier}/pulls`, pull);
  await poll();
  return { identifier, number: number as number, sha: head.sha as string };
};

/** Returns the id of the newest plan of a pull request in the workspace. */
const findPlan = async (name: string): Promise<string> => {
  const workspace = expectStatus(await server.get(`/api/v2/organizations/acme/workspaces/${name}`), 200).body.data.id;
  const { data } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
  return data.find(({ attributes }: { attributes: Record<string, unknown> }) => attributes['plan-only']).id as string;
};

const SCHEMAS = {
  format_version: '1.0',
  provider_schemas: { 'example.org/a/b': { resource_schemas: { b_thing: { version: 0, block: {} } } } },
};

const PLAN = {
  format_version: '1.2',
  resource_changes: [
    {
      address: 'b_thing.one',
      mode: 'managed',
      type: 'b_thing',
      name: 'one',
      provider_name: 'example.org/a/b',
      change: { actions: ['create'], before: null, after: { a: 'hush', b: 'open' }, after_sensitive: { a: true } },
    },
  ],
};

/** Plans a run as an executor does. */
const plan = async (name: string): Promise<void> => {
  const id = await findPlan(name);
  const report = async (status: string, attributes: object = {}) =>
    expectStatus(await agents.post(`/api/v2/runs/${id}/progress`, reportBody(status, attributes)), 200);
  await report('planning');
  const documents = `/api/v2/plans/${id.replace('run-', 'plan-')}`;
  expectStatus(await agents.put(`${documents}/json-schema`, SCHEMAS), 204);
  expectStatus(await agents.put(`${documents}/json-output`, PLAN), 204);
  await report('planned', { 'has-changes': true, 'resource-additions': 1, 'resource-changes': 2 });
};

describe('the comment on a pull request', () => {
  it('is one, follows the plans of all workspaces, and names resources without their values', async () => {
    const { identifier, number, sha } = await propose('network', 'shop');
    await comment();
    const { publicUrl } = server.runtime.settings;
    const link = (name: string, id: string): string =>
      `[\`${name}\`](${publicUrl}/app/acme/workspaces/${name}/runs/${id})`;
    const network = link('network', await findPlan('network'));
    const shop = link('shop', await findPlan('shop'));
    const first = await readComment(identifier, number);
    expect(first).toContain(`plans the commit ${sha.slice(0, 12)}`);
    expect(first).toContain(`| ${network} | Planning | – | – | – |\n| ${shop} | Planning | – | – | – |`);
    await plan('network');
    await comment();
    const second = await readComment(identifier, number);
    expect(second).toContain(`| ${network} | Planned | 1 | 2 | 0 |\n| ${shop} | Planning | – | – | – |`);
    expect(second).toContain('<summary>Changes in <code>network</code></summary>\n\n```text\n  + b_thing.one\n```');
    expect(second).not.toMatch(/hush|open/);
    const { updated_at: updatedAt } = (await gitea.call('GET', `/repos/${identifier}/issues/${number}/comments`))[0];
    await comment();
    expect(await listComments(identifier, number)).toMatchObject([{ updated_at: updatedAt }]);
  });

  it('is found again by its mark if its id was not stored, and is not that of another account', async () => {
    const { identifier, number } = await propose('found');
    await comment();
    const [written] = await listComments(identifier, number);
    const stranger = await gitea.makeFork(identifier, 'eve');
    await stranger.call('POST', `/repos/${identifier}/issues/${number}/comments`, { body: written?.body });
    // As after a process that has ended before it stored the id.
    await server.database.rows(sql`delete from commits.comments m where m.identifier = ${identifier}`);
    await plan('found');
    await comment();
    const comments = await listComments(identifier, number);
    expect(comments.map(({ id, body, user }) => [id, body.includes('| Planned |'), user.login])).toEqual([
      [written?.id, true, gitea.user],
      [expect.any(Number), false, 'eve'],
    ]);
  });

  it('is about the newest commit, and is written again if somebody has deleted it', async () => {
    const { identifier, number } = await propose('renewed');
    await comment();
    const [written] = await listComments(identifier, number);
    await gitea.call('DELETE', `/repos/${identifier}/issues/comments/${written?.id}`);
    const sha = await gitea.commit(identifier, 'topic', { 'more.tf': '#\n' }, 'More');
    await poll();
    await comment();
    expect(await readComment(identifier, number)).toContain(`plans the commit ${sha.slice(0, 12)}`);
  });

  it('is not written before an owner turns comments on', async () => {
    await server.database.rows(sql`
      update organizations set settings = settings - 'pullRequestCommentsEnabled' where name = 'acme'`);
    const { identifier, number } = await propose('quiet');
    await comment();
    expect(await listComments(identifier, number)).toEqual([]);
    await allowComments(false);
    await comment();
    expect(await listComments(identifier, number)).toEqual([]);
    await allowComments(true);
    await comment();
    expect(await readComment(identifier, number)).toContain('| Planning |');
  });

  it('is not begun on a closed pull request', async () => {
    const { identifier, number } = await propose('closed');
    await gitea.call('PATCH', `/repos/${identifier}/pulls/${number}`, { state: 'closed' });
    await poll();
    await comment();
    expect(await listComments(identifier, number)).toEqual([]);
  });

  it('is found by its list, which is empty after all comments are written', async () => {
    const { identifier } = await propose('listed');
    const jobs = createJobs();
    await comment(jobs);
    const listOf = async (): Promise<readonly number[]> => {
      await waitForFollowers(server.store, 'changed_runs');
      const rows = await server.database.rows<{ readonly number: number }>(
        sql`select l.number from commits.changed_pull_requests l where l.identifier = ${identifier}`,
      );
      return rows.map(({ number }) => number);
    };
    expect(await listOf()).toEqual([]);
    await plan('listed');
    expect(await listOf()).toEqual([1]);
    await comment(jobs);
    expect([await readComment(identifier, 1), await listOf()]).toEqual([expect.stringContaining('| Planned |'), []]);
  });

  it('leaves the list if no workspace has the repository any more', async () => {
    const { identifier } = await propose('moved');
    await server.database.rows(
      sql`update workspaces set vcs_repository = 'acme/other' where vcs_repository = ${identifier}`,
    );
    const listOf = () =>
      server.database.rows(
        sql`select l.number from commits.changed_pull_requests l where l.identifier = ${identifier}`,
      );
    await waitForFollowers(server.store, 'changed_runs');
    expect(await listOf()).toHaveLength(1);
    await comment();
    expect(await listOf()).toEqual([]);
  });

  it('follows a pull request that another process has not listed', async () => {
    const { identifier, number } = await propose('unlisted');
    const jobs = createJobs();
    await comment(jobs);
    await plan('unlisted');
    await waitForFollowers(server.store, 'changed_runs');
    await server.database.rows(sql`delete from commits.changed_pull_requests l where l.identifier = ${identifier}`);
    passedMs += 5 * MINUTE_MS;
    await comment(jobs);
    expect(await readComment(identifier, number)).toContain('| Planned |');
  });

  it('is updated once a minute', async () => {
    const { identifier, number } = await propose('often');
    await comment();
    await plan('often');
    await run('pull_request_comments');
    expect(await readComment(identifier, number)).toContain('| Planning |');
    await comment();
    expect(await readComment(identifier, number)).toContain('| Planned |');
  });

  it('stops no other comment if the account may not write it, and is tried again after an hour', async () => {
    const locked = await propose('locked');
    await gitea.call('PATCH', `/repos/${locked.identifier}`, { archived: true });
    const other = await propose('unlocked');
    const jobs = createJobs();
    await comment(jobs);
    expect(await readComment(other.identifier, other.number)).toContain('| Planning |');
    const path = '/api/v2/organizations/acme/vcs-events?filter[levels]=error';
    const messages = expectStatus(await server.get(path), 200).body.data.map(
      ({ attributes }: { attributes: Record<string, string> }) => attributes['message'],
    );
    expect(messages.join('\n')).toContain(`Pull requests of ${locked.identifier} get no comment: `);
    await gitea.call('PATCH', `/repos/${locked.identifier}`, { archived: false });
    await comment(jobs);
    expect(await listComments(locked.identifier, locked.number)).toEqual([]);
    // The pause is stored, so that another process keeps it.
    await comment();
    expect(await listComments(locked.identifier, locked.number)).toEqual([]);
    passedMs += 60 * MINUTE_MS;
    await comment(jobs);
    expect(await readComment(locked.identifier, locked.number)).toContain('| Planning |');
  });
});

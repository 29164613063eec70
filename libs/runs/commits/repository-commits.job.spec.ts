import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import type { ScheduledJob } from '#platform/postgres';
import { GitHostError, GitHosts, type GitHost } from '#vcs/git-hosts';
import { createCommitVersions } from '../runs/index.js';
import { createCommitsJobs } from './index.js';
import { Pauses } from './pauses.service.js';
import { createRepositoryCommitsJob } from './repository-commits.job.js';
import { FixedClock } from '../../../test/support/clocks.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { quiet } from '../../../test/support/silent-logger.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { createConnectionTokens, makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import {
  expectStatus,
  makeOrganization,
  makeRemotePool,
  makeWorkspace,
  resource,
} from '../../../test/support/seeds.js';
import { runJobOnce, runJobs } from '../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

let gitea: Gitea;
let server: TestServer;
let token: string;
let repositories = 0;

beforeAll(async () => {
  gitea = await startGitea();
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  await makeRemotePool(server, 'acme', 'edge');
  ({ token } = await makeOauthClient(server, 'acme', gitea));
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

const createJobs = (options: Partial<Parameters<typeof createCommitsJobs>[0]> = {}): readonly ScheduledJob[] => {
  const { runtime, store } = server;
  return createCommitsJobs({ ...runtime, ...runtime.settings, store, ...options });
};

const fetchCommits = (): Promise<void> => runJobs(createJobs(), 'commit_fetches');
const poll = (): Promise<void> => runJobs(createJobs(), 'repository_commits', 'commit_fetches');

/** Returns the job that reads the repositories, from hosts that `change` returns. */
const createReadingJob = (
  change: (host: GitHost) => Partial<GitHost>,
  options: Partial<Parameters<typeof createRepositoryCommitsJob>[0]> = {},
): ScheduledJob => {
  const { runtime, store, database } = server;
  const hosts = new GitHosts(['127.0.0.1']);
  return createRepositoryCommitsJob({
    ...runtime,
    database,
    tokens: createConnectionTokens(server, hosts),
    versions: createCommitVersions({ ...runtime, ...runtime.settings, store }),
    webhooks: { ensure: async () => undefined, removeUnused: async () => undefined },
    hosts: {
      open: (access) => {
        const host = hosts.open(access);
        return { ...host, ...change(host) };
      },
    },
    logger: quiet,
    pauses: new Pauses(runtime.clock, quiet, 60_000),
    startDeadline: () => new AbortController().signal,
    ...options,
  });
};

/** Returns those of the workspaces whose commits are decided. */
const listFollowed = async (workspaces: readonly string[]): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ readonly workspace: string }>(
    sql`select workspace from commits.followed where workspace = any (${workspaces}) order by workspace`,
  );
  return rows.map(({ workspace }) => workspace);
};

const makeRepository = (files: Readonly<Record<string, string>> = { 'main.tf': 'terraform {}\n' }): Promise<string> => {
  repositories += 1;
  return gitea.makeRepository(`repository-${repositories}`, files);
};

const bind = (identifier: string, name: string, attributes: object = {}, repo: object = {}): Promise<string> =>
  makeWorkspace(server, 'acme', name, {
    'vcs-repo': { identifier, 'oauth-token-id': token, ...repo },
    ...attributes,
  });

type Listed = { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };

const listVersions = async (workspace: string): Promise<readonly Listed[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/configuration-versions`), 200).body.data;

const listRuns = async (workspace: string): Promise<readonly Listed[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data;

const listMessages = async (workspace: string): Promise<readonly unknown[]> =>
  (await listRuns(workspace)).map(({ attributes }) => attributes['message']);

describe('a workspace that follows a repository', () => {
  it('begins with the newest commit, and starts no run before somebody has started one', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'begins');
    await poll();
    const [version] = await listVersions(workspace);
    expect(version?.attributes).toMatchObject({ source: 'gitea', status: 'uploaded', 'auto-queue-runs': false });
    const path = `/api/v2/configuration-versions/${version?.id}`;
    const { data } = expectStatus(await server.get(`${path}/ingress-attributes`), 200).body;
    expect(data.attributes).toMatchObject({
      identifier: repository,
      branch: 'main',
      'on-default-branch': true,
      'commit-message': 'Add files\n',
      // An author is a text that anybody can write.
      'sender-username': null,
    });
    expect(expectStatus(await server.get(`${path}?include=ingress_attributes`), 200).body.included).toEqual([data]);
    expect(await listRuns(workspace)).toEqual([]);
    await gitea.commit(repository, 'main', { 'more.tf': 'terraform {}\n' });
    await poll();
    expect([(await listVersions(workspace)).length, await listRuns(workspace)]).toEqual([2, []]);
  });

  it('plans each push once, with the files of the commit and without the folder of the archive', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'plans', { 'queue-all-runs': true });
    await poll();
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
    await gitea.commit(repository, 'main', { 'modules/vpc/main.tf': '# a subnet\n' }, 'Add a subnet');
    await poll();
    await poll();
    expect(await listMessages(workspace)).toEqual(['Add a subnet\n', 'Add files\n']);
    const [version] = await listVersions(workspace);
    const [run] = await listRuns(workspace);
    const { relationships } = expectStatus(await server.get(`/api/v2/runs/${run?.id}`), 200).body.data;
    expect(relationships['configuration-version'].data.id).toBe(version?.id);
    const download = await server.get(`/api/v2/configuration-versions/${version?.id}/download`);
    expect(download.status).toBe(302);
  });

  it('starts no run for files outside of its folders, and for other branches', async () => {
    const repository = await makeRepository({ 'network/main.tf': 'terraform {}\n' });
    const workspace = await bind(repository, 'filters', { 'queue-all-runs': true, 'working-directory': 'network' });
    await poll();
    await gitea.commit(repository, 'main', { 'other/main.tf': 'terraform {}\n' }, 'Elsewhere');
    await poll();
    await gitea.commit(repository, 'topic', { 'network/topic.tf': 'terraform {}\n' }, 'On a topic');
    await poll();
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
    await gitea.commit(repository, 'main', { 'network/more.tf': 'terraform {}\n' }, 'Here');
    await poll();
    expect(await listMessages(workspace)).toEqual(['Here\n', 'Add files\n']);
  });

  it('fetches commits without a run while somebody has locked it', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'locked', { 'queue-all-runs': true });
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    await poll();
    expect([(await listVersions(workspace)).length, await listRuns(workspace)]).toEqual([1, []]);
  });

  it('starts a run for each new tag that matches', async () => {
    const repository = await makeRepository();
    await gitea.call('POST', `/repos/${repository}/tags`, { tag_name: 'v1.0.0', target: 'main' });
    const workspace = await bind(
      repository,
      'tags',
      { 'queue-all-runs': true, 'file-triggers-enabled': false },
      {
        'tags-regex': String.raw`^v\d+\.\d+\.\d+$`,
      },
    );
    await poll();
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
    await gitea.commit(repository, 'main', { 'next.tf': 'terraform {}\n' }, 'Next');
    await gitea.call('POST', `/repos/${repository}/tags`, { tag_name: 'nightly', target: 'main' });
    await poll();
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
    await gitea.call('POST', `/repos/${repository}/tags`, { tag_name: 'v1.1.0', target: 'main' });
    await poll();
    expect(await listMessages(workspace)).toEqual(['Next\n', 'Add files\n']);
  });

  it('is decided for all workspaces of a repository, and a deleted branch does no harm', async () => {
    const repository = await makeRepository();
    await gitea.commit(repository, 'release', { 'a.tf': '#\n' });
    const names = ['shared-1', 'shared-2', 'shared-3'];
    const workspaces = await Promise.all(
      names.map((name) => bind(repository, name, { 'queue-all-runs': true }, { branch: 'release' })),
    );
    await poll();
    await gitea.call('DELETE', `/repos/${repository}/branches/release`);
    await poll();
    expect(await Promise.all(workspaces.map(async (id) => (await listRuns(id)).length))).toEqual([1, 1, 1]);
  });

  it('queues commits behind a run that has the lock', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'busy', { 'queue-all-runs': true });
    await poll();
    await waitForFollowers(server.store, 'run_queue');
    const [first] = await listRuns(workspace);
    const { relationships } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(relationships['locked-by'].data).toEqual({ type: 'runs', id: first?.id });
    await gitea.commit(repository, 'main', { 'next.tf': '# next\n' }, 'Next');
    await poll();
    const statuses = (await listRuns(workspace)).map(({ attributes: { message, status } }) => [message, status]);
    expect(statuses).toEqual([
      ['Next\n', 'pending'],
      ['Add files\n', 'plan_queued'],
    ]);
  });

  it('does not prevent the others of its repository if its commit fails unexpectedly, and is decided later', async () => {
    const repository = await makeRepository();
    const names = ['broken-1', 'broken-2', 'broken-3'];
    const workspaces: string[] = [];
    for (const name of names) workspaces.push(await bind(repository, name, { 'queue-all-runs': true }));
    const [broken = ''] = workspaces.toSorted();
    await server.database.rows(sql`
      create function refuse_followed() returns trigger language plpgsql as $$ begin raise 'unexpected'; end $$`);
    await server.database.rows(sql`
      create trigger refuse_followed before insert on commits.followed for each row
        when (new.workspace = '${sql.raw(broken)}') execute function refuse_followed()`);
    const warnings: object[] = [];
    const logger = { ...quiet, warn: (fields: object) => void warnings.push(fields) };
    const clock = new FixedClock();
    const jobs = createJobs({ clock, logger });
    await runJobs(jobs, 'repository_commits', 'repository_commits');
    const followed = await listFollowed(workspaces);
    expect(followed).toEqual(workspaces.filter((id) => id !== broken).toSorted());
    expect(warnings).toEqual([expect.objectContaining({ id: broken })]);
    await server.database.rows(sql`drop trigger refuse_followed on commits.followed`);
    clock.pass({ minutes: 1 });
    await runJobs(jobs, 'repository_commits', 'commit_fetches');
    expect(await listFollowed(workspaces)).toEqual(workspaces.toSorted());
    expect(await Promise.all(workspaces.map(async (id) => (await listRuns(id)).length))).toEqual([1, 1, 1]);
  });

  it('does not prevent the others of its repository if the host refuses its commit, and all pull requests', async () => {
    const repository = await makeRepository();
    const sha = await gitea.commit(repository, 'topic', { 'topic.tf': '#\n' });
    const names = ['refused-1', 'refused-2'];
    const workspaces = (
      await Promise.all(names.map((name) => bind(repository, name, { 'queue-all-runs': true })))
    ).toSorted();
    const [refused = '', other = ''] = workspaces;
    const repo = { identifier: repository, 'oauth-token-id': token, branch: 'topic' };
    expectStatus(
      await server.patch(`/api/v2/workspaces/${refused}`, resource('workspaces', { 'vcs-repo': repo })),
      200,
    );
    const job = createReadingJob((host) => ({
      getCommit: async (identifier, id) => {
        if (id === sha) throw new GitHostError('not-found', 'The tag names no commit');
        return host.getCommit(identifier, id);
      },
      listPullRequests: async () => {
        throw new GitHostError('unexpected', 'The list is too large');
      },
    }));
    await runJobOnce(job);
    await fetchCommits();
    expect(await listFollowed(workspaces)).toEqual([other]);
    expect(await listMessages(other)).toEqual(['Add files\n']);
  });

  it('starts no run by its recovery, but for the next push', async () => {
    const repository = await makeRepository();
    const stays = await bind(repository, 'comes-back', { 'queue-all-runs': true });
    const moves = await bind(repository, 'comes-back-later', { 'queue-all-runs': true });
    const remove = async (id: string): Promise<void> => {
      expectStatus(await server.delete(`/api/v2/workspaces/${id}`), 204);
      await poll();
    };
    const recover = async (id: string): Promise<void> => {
      expectStatus(await server.post(`/api/v2/recoverable-items/${id}/actions/recover`), 200);
      await poll();
    };
    await poll();
    await remove(stays);
    await recover(stays);
    expect([await listVersions(stays), await listRuns(stays)]).toEqual([[], []]);
    await remove(moves);
    await gitea.commit(repository, 'main', { 'while-deleted.tf': '#\n' }, 'While deleted');
    await recover(moves);
    expect([(await listVersions(moves)).length, await listRuns(moves)]).toEqual([1, []]);
    expect(await listMessages(stays)).toEqual(['While deleted\n']);
    await gitea.commit(repository, 'main', { 'next.tf': '#\n' }, 'Next');
    await poll();
    expect(await listMessages(moves)).toEqual(['Next\n']);
  });

  it('never uses a connection of another organization', async () => {
    const repository = await makeRepository();
    const workspace = await makeWorkspace(server, 'neighbour', 'thief', { 'queue-all-runs': true });
    // As workspaces of earlier versions, which accepted any token.
    const vcsRepo = { identifier: repository, oauthTokenId: token, branch: '', tagsRegex: null };
    await server.database.rows(sql`
      update workspaces set vcs_token = ${token}, vcs_repository = ${repository},
                            settings = settings || jsonb_build_object('vcsRepo', ${sql.json(vcsRepo)}::jsonb)
       where id = ${workspace}`);
    await poll();
    expect(await listVersions(workspace)).toEqual([]);
  });
});

describe('a Git host that is slow', () => {
  /** Reads the repositories in rounds in which the host answers for the heads of some branches. Returns the branches of each round. */
  const readRounds = async (answered: number, rounds: number): Promise<readonly (readonly string[])[]> => {
    let requested: string[] = [];
    let turn = new AbortController();
    const job = createReadingJob(
      (host) => ({
        findHead: async (identifier, branch) => {
          if (!branch.startsWith('slow-')) return host.findHead(identifier, branch);
          requested.push(branch);
          if (requested.length <= answered) return host.findHead(identifier, branch);
          turn.abort();
          throw new GitHostError('out-of-time', 'The host did not answer in time');
        },
      }),
      { startDeadline: () => (turn = new AbortController()).signal },
    );
    const all: string[][] = [];
    for (let round = 0; round < rounds; round += 1) {
      requested = [];
      await runJobOnce(job);
      all.push(requested);
    }
    return all;
  };

  const bindBranches = async (prefix: string, count: number): Promise<readonly string[]> => {
    const repository = await makeRepository();
    const workspaces: { readonly id: string; readonly branch: string }[] = [];
    for (let number = 1; number <= count; number += 1) {
      const branch = `slow-${prefix}-${number}`;
      await gitea.commit(repository, branch, { [`${branch}.tf`]: '#\n' });
      workspaces.push({ id: await bind(repository, branch, {}, { branch }), branch });
    }
    return workspaces.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ branch }) => branch);
  };

  it('continues in the next round with the workspace for which there was no time, and then begins again', async () => {
    const [one, two, three, four, five] = await bindBranches('several', 5);
    const rounds = await readRounds(2, 4);
    expect(rounds).toEqual([[one, two, three], [three, four, five], [five], [one, two, three]]);
  });

  it('continues with the next workspace if one takes all of the time', async () => {
    const branches = await bindBranches('alone', 2);
    const requested = new Set((await readRounds(0, 12)).flat());
    expect([...requested].filter((branch) => branches.includes(branch))).toEqual(branches);
  });

  it('gives each connection of its organization a turn before the first ones have another', async () => {
    await makeOrganization(server, 'connected');
    await makeRemotePool(server, 'connected', 'edge');
    const repository = await makeRepository();
    const branches = new Map<string, string>();
    for (const name of ['turn-1', 'turn-2', 'turn-3']) {
      const connection = await makeOauthClient(server, 'connected', gitea, name);
      branches.set(connection.token, name);
      const repo = { identifier: repository, 'oauth-token-id': connection.token, branch: name };
      await makeWorkspace(server, 'connected', name, { 'vcs-repo': repo });
    }
    const [one = '', two = '', three = ''] = [...branches].toSorted().map(([, branch]) => branch);
    let requested: string[] = [];
    const turns: AbortController[] = [];
    const job = createReadingJob(
      (host) => ({
        findHead: async (identifier, branch) => {
          if (!branch.startsWith('turn-')) return host.findHead(identifier, branch);
          requested.push(branch);
          for (const turn of turns) turn.abort();
          throw new GitHostError('out-of-time', 'The host did not answer in time');
        },
      }),
      {
        startDeadline: () => {
          const turn = new AbortController();
          turns.push(turn);
          return turn.signal;
        },
      },
    );
    const rounds: (readonly string[])[] = [];
    for (let round = 0; round < 2; round += 1) {
      requested = [];
      await runJobOnce(job);
      rounds.push(requested.toSorted());
    }
    expect(rounds).toEqual([[one, two].toSorted(), [three]]);
  });
});

/** Returns what VCS events say about a workspace. */
const listReasons = async (name: string): Promise<readonly string[]> => {
  const { data } = expectStatus(await server.get('/api/v2/organizations/acme/vcs-events?page[size]=100'), 200).body;
  return (data as readonly Listed[])
    .map(({ attributes }) => String(attributes['message']))
    .filter((message) => message.startsWith(`Workspace ${name} `))
    .map((message) => message.replace(/^.* (runs|does not run) the commit \w+ of the (.*) of [^:]*/, '$1 $2'));
};

describe('VCS events of duplicates', () => {
  it('are left by a commit that another tag had before', async () => {
    const repository = await makeRepository();
    const attributes = { 'queue-all-runs': true, 'file-triggers-enabled': false };
    await bind(repository, 'twice-tagged', attributes, { 'tags-regex': '^v' });
    await poll();
    for (const tag of ['v1', 'v2']) {
      await gitea.call('POST', `/repos/${repository}/tags`, { tag_name: tag, target: 'main' });
      await poll();
    }
    expect(await listReasons('twice-tagged')).toEqual([
      'does not run tag v2: Processing skipped for duplicate commit SHA',
      'runs tag v1',
    ]);
  });

  it('are not left if a delivery is handled while a poll reads the repository', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'read-twice', { 'queue-all-runs': true });
    const job = createReadingJob((host) => ({
      findHead: async (identifier, branch) => {
        const head = await host.findHead(identifier, branch);
        if (identifier === repository) await poll();
        return head;
      },
    }));
    await runJobOnce(job);
    expect(await listReasons('read-twice')).toEqual(['runs branch main']);
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
  });
});

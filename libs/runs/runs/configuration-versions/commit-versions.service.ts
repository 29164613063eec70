import type { Readable } from 'node:stream';
import type { Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, expectVersion, newStream, type EventStore } from '#storage/event-store';
import { configurationVersion, type ConfigurationSource, type Ingress } from './configuration-version.js';
import type { ConfigurationUploads } from './configuration-version.uploads.js';
import {
  findUsedCommit,
  listOpenOfPullRequest,
  listUnfetchedConfigurations,
  loadWorkspaceForCommit,
  type UnfetchedCommit,
  type UsedCommit,
} from './commit-versions.queries.js';
import { cancelRun } from '../runs/change-run.operation.js';
import { deriveId } from '../runs/runs.ids.js';

/** A commit of the repository of a workspace that becomes a configuration version. */
type NewCommit = {
  /** The kind of Git host. */
  readonly serviceProvider: string;
  /** Address of the API of the Git host. */
  readonly apiUrl: string;
  readonly startsRun: boolean;
  readonly attempt: number;
  readonly ingress: Ingress;
};

/** A commit of a branch or tag, or with the number of a pull request, the newest commit of it. */
type CommitOfWorkspace = {
  readonly sha: string;
  readonly pullRequest: number | null;
  /** Of a pull request, the number of the decision about it; otherwise 1. */
  readonly attempt: number;
};

/**
 * Returns the same id for the same commit of a workspace, so that nothing processes a commit twice. A commit that was planned for
 * a pull request is another one after the merge.
 */
const toCommitVersionId = (workspace: string, { sha, pullRequest, attempt }: CommitOfWorkspace): string => {
  const ofPullRequest = pullRequest === null ? '' : ` ${pullRequest}${attempt === 1 ? '' : ` ${attempt}`}`;
  return deriveId('cv', `${workspace} ${sha}${ofPullRequest}`);
};

/** Returns the kind of a Git host without its edition: `github` for `github_enterprise`. */
const toSource = (serviceProvider: string): ConfigurationSource =>
  serviceProvider.replace(/_.*$/, '') as ConfigurationSource;

/** Configuration versions that are made of commits. */
export class CommitVersions {
  constructor(
    private readonly store: EventStore,
    private readonly uploads: ConfigurationUploads,
    private readonly ids: Ids,
  ) {}

  /** Returns the configuration version of a commit; null if there is none and was none. */
  findCommit(workspace: string, commit: CommitOfWorkspace): Promise<UsedCommit | null> {
    return findUsedCommit(this.store.database, toCommitVersionId(workspace, commit));
  }

  /** Creates the configuration version of a commit, without its content. Does nothing if it exists, or if the workspace was deleted. */
  async create(workspace: string, { serviceProvider, apiUrl, startsRun, attempt, ingress }: NewCommit): Promise<void> {
    const { commitSha: sha, pullRequest } = ingress;
    const id = toCommitVersionId(workspace, { sha, pullRequest: pullRequest?.number ?? null, attempt });
    await this.store.retryOnConflict(async () => {
      const target = await loadWorkspaceForCommit(this.store.database, workspace, id);
      if (!target || target.exists) return;
      const command = {
        type: 'CreateConfigurationVersion',
        data: {
          workspace,
          source: toSource(serviceProvider),
          autoQueueRuns: startsRun,
          speculative: pullRequest !== null,
          provisional: false,
          // Never the author of the commit: anybody can write any name there.
          createdBy: { type: 'system', id: 'system', name: new URL(apiUrl).host },
          mayApply: true,
          ingress,
        },
      } as const;
      const write = decideWrite(
        configurationVersion,
        newStream(id, configurationVersion),
        target.organization,
        command,
      );
      const preconditions = target.preconditions.map(({ stream, version }) => expectVersion(stream, version));
      await this.store.append([...preconditions, write], createSystemContext('commits', this.ids.uuid()));
    });
  }

  /**
   * Returns configuration versions whose commit is not fetched yet, in turns of organizations and of their connections. `paused`: keys of
   * connections (their token), commits (token, identifier, SHA and whether with submodules), repositories (`submodules`, token and
   * identifier; only with submodules) and configuration versions (id) that are left out.
   */
  listUnfetched(most: number, paused: readonly string[], withSubmodules: boolean): Promise<readonly UnfetchedCommit[]> {
    return listUnfetchedConfigurations(this.store.database, most, paused, withSubmodules);
  }

  /** Stores the content of a commit, and starts its run if it starts one. */
  receive(id: string, content: Readable): Promise<void> {
    return this.uploads.receiveCommit(id, content);
  }

  /** Ends a configuration version whose commit cannot be fetched. */
  fail(id: string, message: string): Promise<void> {
    return this.uploads.failFetch(id, message);
  }

  /**
   * Cancels the plans of a pull request, and ends its configuration versions that are not fetched. `newest`: the commit whose plan
   * continues; null for none.
   */
  async endPullRequest(workspace: string, number: number, newest: CommitOfWorkspace | null, now: Date): Promise<void> {
    const { store, ids } = this;
    const keptId = newest && toCommitVersionId(workspace, newest);
    const { configurations, runs } = await listOpenOfPullRequest(store.database, workspace, number, keptId);
    const message = newest === null ? 'The pull request was closed' : 'The pull request has changed';
    for (const id of configurations) await this.uploads.failFetch(id, message);
    for (const id of runs) await cancelRun(store, id, now, createSystemContext('commits', ids.uuid()));
  }
}

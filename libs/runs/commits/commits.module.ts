import { Module } from '@nestjs/common';
import { isLoopback, type Clock, type Ids, type Logger } from '#platform/kernel';
import type { EncryptionKeys } from '#platform/encryption';
import type { ScheduledJob } from '#platform/postgres';
import type { BlobStore } from '#storage/blob-store';
import type { EventStore, ModuleDefinition } from '#storage/event-store';
import { Vault } from '#storage/vault';
import { createCommitVersions, createChangedResources } from '#runs/runs';
import { ConnectionTokens, Connections } from '#vcs/connections';
import { GitHosts } from '#vcs/git-hosts';
import { changedRunsFollower } from './changed-runs.follower.js';
import { createCommitFetchesJobs } from './commit-fetches.job.js';
import { CommitPreviewsController } from './commit-previews.controller.js';
import { CommitPreviews } from './commit-previews.service.js';
import { createCommitStatusesJob } from './commit-statuses.job.js';
import { Pauses } from './pauses.service.js';
import { createPullRequestCommentsJob } from './pull-request-comments.job.js';
import { createRepositoryCommitsJob } from './repository-commits.job.js';
import { RepositoryWebhooks } from './repository-webhooks.service.js';
import { VcsEventsController } from './vcs-events.controller.js';
import { createWebhookDeliveriesJob } from './webhook-deliveries.job.js';
import { WebhooksController } from './webhooks.controller.js';

export const commitsDefinition: ModuleDefinition = {
  name: 'commits',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [changedRunsFollower],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'commits.followed',
      backup: 'rows',
      organizationExport: { without: 'the other site has connections of its own, which begin again' },
    },
    {
      table: 'commits.webhooks',
      backup: 'rows',
      organizationExport: { without: 'the other site has webhooks of its own' },
    },
    { table: 'commits.webhook_deliveries', backup: 'empty', because: 'polls read what deliveries were about' },
    {
      table: 'commits.changed_runs',
      backup: 'rows',
      organizationExport: { without: 'the other site reports runs to Git hosts over connections of its own' },
    },
    { table: 'commits.reported_runs', backup: 'empty', because: 'statuses are reported again, and replace equal ones' },
    {
      table: 'commits.untriggered_plans',
      backup: 'empty',
      because: 'a newer commit, or a reopened pull request, is decided again',
    },
    {
      table: 'commits.changed_pull_requests',
      backup: 'empty',
      because: 'the job lists the pull requests of the last days again',
    },
    { table: 'commits.comments', backup: 'empty', because: 'the comment is found at the Git host by its mark' },
    {
      table: 'commits.vcs_events',
      backup: 'rows',
      organizationExport: { without: 'they are about the connections of this site, and are deleted after 10 days' },
    },
  ],
};

type CommitsOptions = {
  readonly store: EventStore;
  readonly blobs: BlobStore;
  readonly encryptionKeys: EncryptionKeys;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outboundPrivateHosts: readonly string[];
  readonly publicUrl: string;
  readonly toolReleases: readonly string[];
};

const FIRST_PAUSE_MS = 60_000;

/** Returns the jobs that start runs for commits. */
export const createCommitsJobs = (options: CommitsOptions): readonly ScheduledJob[] => {
  const { store, encryptionKeys, clock, ids, logger, outboundPrivateHosts } = options;
  const { database } = store;
  const vault = new Vault(database, encryptionKeys);
  // No Git host reaches a server on the machine of a person.
  const publicUrl = isLoopback(new URL(options.publicUrl).hostname) ? null : options.publicUrl;
  const hosts = new GitHosts(outboundPrivateHosts);
  const dependencies = {
    database,
    tokens: new ConnectionTokens({ store, vault, authorization: hosts.authorization, ids, clock }),
    hosts,
    versions: createCommitVersions(options),
    webhooks: new RepositoryWebhooks({ database, vault, ids, clock, publicUrl }),
    clock,
    logger,
    pauses: new Pauses(clock, logger, FIRST_PAUSE_MS),
    startDeadline: (ms: number) => AbortSignal.timeout(ms),
  };
  return [
    createRepositoryCommitsJob(dependencies),
    createWebhookDeliveriesJob(dependencies),
    ...createCommitFetchesJobs(dependencies),
    createCommitStatusesJob({ ...dependencies, publicUrl: options.publicUrl }),
    createPullRequestCommentsJob({
      ...dependencies,
      // The limit of a host for comments delays no commit and no status.
      pauses: new Pauses(clock, logger, FIRST_PAUSE_MS),
      publicUrl: options.publicUrl,
      changedResources: createChangedResources(options),
    }),
  ];
};

@Module({
  controllers: [CommitPreviewsController, VcsEventsController, WebhooksController],
  providers: [
    {
      provide: CommitPreviews,
      useFactory: (connections: Connections) => new CommitPreviews(connections),
      inject: [Connections],
    },
  ],
})
export class CommitsModule {}

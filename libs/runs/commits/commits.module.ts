import type { Clock, Ids, Logger } from '#platform/kernel';
import type { EncryptionKeys } from '#platform/encryption';
import type { ScheduledJob } from '#platform/postgres';
import type { BlobStore } from '#storage/blob-store';
import type { EventStore, ModuleDefinition } from '#storage/event-store';
import { Vault } from '#storage/vault';
import { createCommitVersions } from '#runs/runs';
import { GitHosts } from '#vcs/git-hosts';
import { createRepositoryCommitsJob } from './repository-commits.job.js';

export const commitsDefinition: ModuleDefinition = {
  name: 'commits',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'commits.followed',
      backup: 'rows',
      organizationExport: { without: 'the other site has connections of its own, which begin again' },
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
  readonly toolReleases: readonly string[];
};

/** Returns the job that starts runs for commits. */
export const createCommitsJob = (options: CommitsOptions): ScheduledJob => {
  const { store, encryptionKeys, clock, logger, outboundPrivateHosts } = options;
  const { database } = store;
  return createRepositoryCommitsJob({
    database,
    vault: new Vault(database, encryptionKeys),
    hosts: new GitHosts(outboundPrivateHosts),
    versions: createCommitVersions(options),
    clock,
    logger,
  });
};

import { agentsSlice } from '#agents';
import { auditTrailSettingsSlice, auditTrailSlice, pruningChore } from '#audit-trail';
import type { BlobStore } from '#blob-store';
import {
  forgottenNames,
  registryOf,
  type Chore,
  type EventStore,
  type Follower,
  type Forgetting,
  type Slice,
} from '#event-store';
import { retentionSlice } from '#data-retention-policies';
import { factsSlice } from '#facts';
import { historySlice } from '#history';
import type { Settings } from '#host';
import type { Clock, Ids, Logger } from '#kernel';
import { organizationsSlice } from '#organizations';
import { peopleSlice } from '#people';
import { abandonedUploads, deletedProviders, registrySlice, releaseSweeper } from '#registry';
import { expiryChore, retentionChore } from '#retention';
import { configurationSweeper, runsSlice, waitingRemoteRuns } from '#runs';
import { sshKeysSlice } from '#ssh-keys';
import { stateSlice, stateSweeper } from '#state';
import { tagsSlice } from '#tags';
import { variablesSlice } from '#variables';
import { vaultSlice } from '#vault';
import { workspacesSlice } from '#workspaces';

const subjects: readonly Slice[] = [
  organizationsSlice,
  peopleSlice,
  workspacesSlice,
  tagsSlice,
  stateSlice,
  runsSlice,
  agentsSlice,
  sshKeysSlice,
  variablesSlice,
  retentionSlice,
  registrySlice,
  factsSlice,
  auditTrailSettingsSlice,
];

/** Every event type that can be in the log. */
export const registry = registryOf(subjects);

/** What Cadastre is made of: the one list, in the order in which their tables are made. The trail tells of all others. */
export const slices: readonly Slice[] = [vaultSlice, ...subjects, historySlice, auditTrailSlice(registry)];

/** Followers that remove files; they want the files' store, so no slice can list them. */
export const sweepers = (blobs: BlobStore): readonly Follower[] => [
  configurationSweeper(blobs),
  stateSweeper(blobs),
  releaseSweeper(blobs),
];

type Tools = {
  readonly store: EventStore;
  readonly forgetting: Forgetting;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
};

/** What is done as time goes by. The hosted edition has no data retention (contract §4.3). */
export const chores = (
  { store, forgetting, blobs, clock, ids, logger }: Tools,
  { edition, retentionCheckMs, softDeletedDays }: Pick<Settings, 'edition' | 'retentionCheckMs' | 'softDeletedDays'>,
): readonly Chore[] => [
  forgottenNames(forgetting),
  pruningChore(store.database, clock),
  ...(edition === 'hosted'
    ? []
    : [
        retentionChore(store, clock, ids, retentionCheckMs),
        expiryChore(store, clock, ids, { everyMs: retentionCheckMs, days: softDeletedDays }),
      ]),
  abandonedUploads(store.database, blobs, clock),
  deletedProviders(store),
  waitingRemoteRuns(store.database, clock, logger),
];

import type { Clock, EventContext, Ids, Sql } from '#platform/kernel';
import { raiseConflictWhen, expectVersion, type EventStore, type StreamWrite } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { createSystemContext } from '#api/access';
import {
  isConfigurationInUse,
  prepareRunDataDeletion,
  preparePermanentConfigurationDeletion,
  prepareSoftConfigurationDeletion,
} from '#runs/runs';
import { preparePermanentDeletion, prepareSoftDeletion } from '#workspaces/state';
import {
  CONFIGURATION_VERSIONS,
  findDueVersion,
  listDueVersions,
  findExpiredVersion,
  listExpiredVersions,
  hasOtherPolicy,
  RUNS,
  STATE_VERSIONS,
  type RetainedKind,
  type StoredVersion,
} from './retention.queries.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Deletion of the files of one kind of record. */
type RecordDeletion = {
  readonly kind: RetainedKind;
  readonly prepare: (store: EventStore, record: StoredVersion) => Promise<StreamWrite>;
};

/** `findConflicts` returns conditions that make it outdated, besides changes of the streams that it depends on. */
type PolicyDeletion = RecordDeletion & { readonly findConflicts: (id: string) => readonly Sql[] };

/** What policies delete. Nobody can restore the data of runs, so they have no soft deletion. */
const POLICY_DELETIONS: readonly PolicyDeletion[] = [
  { kind: STATE_VERSIONS, prepare: prepareSoftDeletion, findConflicts: () => [] },
  {
    kind: CONFIGURATION_VERSIONS,
    prepare: prepareSoftConfigurationDeletion,
    findConflicts: (id) => [isConfigurationInUse(id)],
  },
  { kind: RUNS, prepare: prepareRunDataDeletion, findConflicts: () => [] },
];

/** What follows a soft deletion after some days. */
const EXPIRIES: readonly RecordDeletion[] = [
  { kind: STATE_VERSIONS, prepare: preparePermanentDeletion },
  { kind: CONFIGURATION_VERSIONS, prepare: preparePermanentConfigurationDeletion },
];

type RetentionRun = {
  readonly ids: AsyncIterable<string>;
  /** Resolves to false if the version is no longer due. */
  readonly remove: (id: string) => Promise<boolean>;
};

/**
 * Deletes all versions. A failed deletion does not prevent the others; the first error becomes the cause of the thrown
 * one.
 */
const deleteEach = async (
  rounds: readonly RetentionRun[],
  { signal, done }: Parameters<ScheduledJob['run']>[0],
  failed: (count: number) => string,
): Promise<void> => {
  const failures: unknown[] = [];
  for (const { ids, remove } of rounds) {
    for await (const id of ids) {
      if (signal.aborted) return;
      try {
        if (await remove(id)) done();
      } catch (error) {
        failures.push(error);
      }
    }
  }
  if (failures.length > 0) throw new Error(failed(failures.length), { cause: failures[0] });
};

/**
 * Creates the job that soft-deletes data of state versions and configuration versions, and deletes data of runs, that is older
 * than the policy of their workspace allows, or else that of their organization.
 *
 * It finds them in pages by age and checks each again together with its append. So it can run twice without harm,
 * and respects a policy or a lock that changes in the meantime.
 */
export const createRetentionJob = (store: EventStore, clock: Clock, ids: Ids, everyMs: number): ScheduledJob => ({
  name: 'data_retention',
  everyMs,
  run: (round) => {
    const now = clock.now();
    const context = createSystemContext('data retention', ids.uuid());
    const rounds = POLICY_DELETIONS.map((deletion) => ({
      ids: listDueVersions(store.database, deletion.kind, now),
      remove: (id: string) => deleteDue(store, deletion, { id, now, context }),
    }));
    return deleteEach(rounds, round, (count) => `the data of ${count} versions and runs could not be deleted`);
  },
});

const deleteDue = (
  store: EventStore,
  { kind, prepare, findConflicts }: PolicyDeletion,
  { id, now, context }: { readonly id: string; readonly now: Date; readonly context: EventContext },
): Promise<boolean> =>
  store.retryOnConflict(async () => {
    const due = await findDueVersion(store.database, kind, id, now);
    if (!due) return false;
    const preconditions = [
      expectVersion(due.workspace, due.workspaceVersion),
      expectVersion(due.policy, due.policyVersion),
    ];
    const conflicts = [hasOtherPolicy(due), ...findConflicts(id)].map(raiseConflictWhen);
    await store.append([...preconditions, await prepare(store, due)], context, conflicts);
    return true;
  });

/** Creates the job that permanently deletes data that was soft-deleted so many days ago. */
export const createExpiryJob = (
  store: EventStore,
  clock: Clock,
  ids: Ids,
  { everyMs, days }: { readonly everyMs: number; readonly days: number },
): ScheduledJob => ({
  name: 'soft_deleted_files',
  everyMs,
  run: (round) => {
    const before = new Date(clock.now().getTime() - days * DAY_MS);
    const context = createSystemContext('data retention', ids.uuid());
    const rounds = EXPIRIES.map(({ kind, prepare }) => ({
      ids: listExpiredVersions(store.database, kind, before),
      remove: (id: string) =>
        store.retryOnConflict(async () => {
          const expired = await findExpiredVersion(store.database, kind, id, before);
          if (!expired) return false;
          await store.append([await prepare(store, expired)], context);
          return true;
        }),
    }));
    return deleteEach(rounds, round, (count) => `the soft-deleted data of ${count} versions could not be deleted`);
  },
});

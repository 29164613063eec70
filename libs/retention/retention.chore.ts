import type { Clock, EventContext, Ids, Sql } from '#kernel';
import { staleWhen, unchanged, type Chore, type EventStore, type Write } from '#event-store';
import { systemContext } from '#access';
import { isConfigurationInUse, permanentConfigurationDeletion, softConfigurationDeletion } from '#runs';
import { permanentDeletion, softDeletion } from '#state';
import {
  CONFIGURATION_VERSIONS,
  dueVersion,
  dueVersions,
  expiredVersion,
  expiredVersions,
  hasOtherPolicy,
  STATE_VERSIONS,
  type RetainedKind,
  type StoredVersion,
} from './retention.queries.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** How the files of one kind of record are deleted. */
type Deletion = {
  readonly kind: RetainedKind;
  readonly soft: (store: EventStore, version: StoredVersion) => Promise<Write>;
  readonly permanent: (store: EventStore, version: StoredVersion) => Promise<Write>;
  /** What makes the soft deletion stale, besides changes of the streams that it depends on. */
  readonly staleIf: (id: string) => readonly Sql[];
};

const DELETIONS: readonly Deletion[] = [
  { kind: STATE_VERSIONS, soft: softDeletion, permanent: permanentDeletion, staleIf: () => [] },
  {
    kind: CONFIGURATION_VERSIONS,
    soft: softConfigurationDeletion,
    permanent: permanentConfigurationDeletion,
    staleIf: (id) => [isConfigurationInUse(id)],
  },
];

type Round = {
  readonly ids: AsyncIterable<string>;
  /** Resolves to false if the version is not due any more. */
  readonly remove: (id: string) => Promise<boolean>;
};

/** Goes through all versions; one that fails does not keep the others from their turn. */
const goThrough = async (
  rounds: readonly Round[],
  { signal, done }: Parameters<Chore['run']>[0],
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
 * Soft-deletes the data of state versions and configuration versions that is older than the policy of their workspace
 * allows, or else of their organization.
 *
 * It finds versions in pages by their age and checks each again together with its append. So it does no harm to run it
 * twice, and a policy or a lock that changes meanwhile counts.
 */
export const retentionChore = (store: EventStore, clock: Clock, ids: Ids, everyMs: number): Chore => ({
  name: 'data_retention',
  everyMs,
  run: (round) => {
    const now = clock.now();
    const context = systemContext('data retention', ids.uuid());
    const rounds = DELETIONS.map((deletion) => ({
      ids: dueVersions(store.database, deletion.kind, now),
      remove: (id: string) => letGo(store, deletion, { id, now, context }),
    }));
    return goThrough(rounds, round, (count) => `the data of ${count} versions could not be deleted`);
  },
});

const letGo = (
  store: EventStore,
  { kind, soft, staleIf }: Deletion,
  { id, now, context }: { readonly id: string; readonly now: Date; readonly context: EventContext },
): Promise<boolean> =>
  store.untilFirst(async () => {
    const due = await dueVersion(store.database, kind, id, now);
    if (!due) return false;
    const holding = [unchanged(due.workspace, due.workspaceVersion), unchanged(due.policy, due.policyVersion)];
    const stale = [hasOtherPolicy(due), ...staleIf(id)].map(staleWhen);
    await store.append([...holding, await soft(store, due)], context, stale);
    return true;
  });

/** Deletes for good what was soft-deleted so many days ago. */
export const expiryChore = (
  store: EventStore,
  clock: Clock,
  ids: Ids,
  { everyMs, days }: { readonly everyMs: number; readonly days: number },
): Chore => ({
  name: 'soft_deleted_files',
  everyMs,
  run: (round) => {
    const before = new Date(clock.now().getTime() - days * DAY_MS);
    const context = systemContext('data retention', ids.uuid());
    const rounds = DELETIONS.map(({ kind, permanent }) => ({
      ids: expiredVersions(store.database, kind, before),
      remove: (id: string) =>
        store.untilFirst(async () => {
          const expired = await expiredVersion(store.database, kind, id, before);
          if (!expired) return false;
          await store.append([await permanent(store, expired)], context);
          return true;
        }),
    }));
    return goThrough(rounds, round, (count) => `the soft-deleted data of ${count} versions could not be deleted`);
  },
});

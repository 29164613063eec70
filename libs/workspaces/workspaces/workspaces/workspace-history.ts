import {
  createSubject,
  LOCK_ENDED,
  LOCK_ENDED_BY_FORCE,
  LOCK_STARTED,
  updateSubject,
  type HistoryChange,
  type HistoryLookup,
  type OrganizationRecordedEvent,
  type Principal,
  type SubjectData,
  type Tag,
  type Timestamp,
} from '#platform/kernel';

/** Initial data of every workspace, with the keys of its settings and of its row. */
const NEW_WORKSPACE_DATA = {
  lock: null,
  sshKey: null,
  dataRetentionPolicy: null,
  remoteStateConsumers: [],
  currentStateVersion: null,
  resourceCount: 0,
  stateChangedAt: null,
  currentRun: null,
  currentConfigurationVersion: null,
  currentConfigurationSince: null,
  variables: [],
} as const;

type CreatedWorkspace = {
  readonly project: string;
  readonly name: string;
  readonly settings: SubjectData;
  readonly tags: readonly Tag[];
};

/** Returns the first version of a workspace. */
export const beginWorkspace = (
  { project, name, settings, tags }: CreatedWorkspace,
  { stream, time }: OrganizationRecordedEvent,
): readonly HistoryChange[] =>
  createSubject(stream, {
    ...settings,
    ...NEW_WORKSPACE_DATA,
    name,
    project,
    tags,
    createdAt: time,
    updatedAt: time,
    latestChangeAt: time,
  });

/** Returns the first version of a recovered workspace: the last one before the deletion, without lock and runs. */
export const recoverWorkspace = (
  { name, project }: { readonly name: string; readonly project: string },
  { stream, time }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const last = lookup.ofDeleted(stream);
  if (!last) return [];
  const { currentRun, currentConfigurationVersion, currentConfigurationSince, lock } = NEW_WORKSPACE_DATA;
  const withoutRuns = { ...last, currentRun, currentConfigurationVersion, currentConfigurationSince, lock };
  return createSubject(stream, { ...withoutRuns, name, project, updatedAt: time, latestChangeAt: time });
};

/** Returns a new version of a workspace. */
export const updateWorkspace = (
  { stream, time }: OrganizationRecordedEvent,
  patch: SubjectData,
  marks: readonly string[] = [],
): readonly HistoryChange[] => updateSubject(stream, { ...patch, updatedAt: time }, marks);

export const beginLock = (
  { holder, reason }: { readonly holder: Principal; readonly reason: string },
  event: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const { id, stream, organization, time } = event;
  if (!lookup.of(stream)) return [];
  // The lock under which an import copies states: their times are before the time of the lock.
  if (event.context.origin?.time) return [];
  return [
    ...updateWorkspace(event, { lock: { holder, reason, at: time } }, [LOCK_STARTED]),
    { locking: { id, workspace: stream, organization, lockedAt: time } },
  ];
};

/** Sets when the current lock of the workspace ends by itself. */
export const leaseLock = (
  { expiresAt }: { readonly expiresAt: Timestamp },
  event: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const lock = (lookup.of(event.stream)?.['lock'] ?? null) as SubjectData | null;
  return lock ? updateWorkspace(event, { lock: { ...lock, expiresAt } }) : [];
};

/** Ends the current lock of the workspace, if it has one. `end` creates the version that ends it. */
export const endLock = (
  lookup: HistoryLookup,
  { stream, organization }: OrganizationRecordedEvent,
  forced: boolean,
  end: (marks: readonly string[]) => readonly HistoryChange[],
): readonly HistoryChange[] => {
  const lock = (lookup.of(stream)?.['lock'] ?? null) as { readonly at: Timestamp } | null;
  if (!lock) return end([]);
  return [
    { unlocking: { workspace: stream, organization, lockedAt: lock.at } },
    ...end([LOCK_ENDED, ...(forced ? [LOCK_ENDED_BY_FORCE] : [])]),
  ];
};

import {
  conflict,
  formatTimestamp,
  Refusal,
  type Clock,
  type DataOf,
  type EventContext,
  type Ids,
  type Sql,
} from '#platform/kernel';
import {
  decideWrite,
  expectVersion,
  getFirstRow,
  type EventStore,
  type LoadedStream,
  type StreamWrite,
} from '#storage/event-store';
import { createEventContext } from '#api/access';
import { loadWorkspaceLock } from '#workspaces/workspaces';
import { createCommentCommand } from './comment-run.operation.js';
import { deleteLease } from './run-leases.queries.js';
import { needsLease, needsWorkspaceLock, type RunState } from './run-state.js';
import { isActionAllowed } from './run-status.js';
import { run, type RunCommand } from './run.js';
import type { RunActionInput } from './runs.commands.js';
import { authorizeRunCommand } from './runs.permissions.js';
import { listRunsAhead, loadRunForCommand, selectRunById, type RunForCommand, type RunRow } from './runs.queries.js';

/** The state that a write to a run's stream results in. */
export const getNewState = (write: StreamWrite): RunState => write.snapshot?.state as RunState;

/** A command that changes the status of an existing run. */
type RunStatusCommand = Exclude<
  RunCommand,
  {
    type:
      | 'CreateRun'
      | 'AddTaskStages'
      | 'QueueRun'
      | 'ExpireLease'
      | 'ReadJob'
      | 'IssueIdentityToken'
      | 'StoreErroredState'
      | 'DeleteRunData'
      | 'CommentRun'
      | 'ReportTaskResult'
      | 'EndTaskResult';
  }
>;

/** A command, or one that needs the row of the run. `store` returns statements of the append, for what no event contains. */
export type RequestedCommand =
  | RunStatusCommand
  | {
      readonly type: RunStatusCommand['type'];
      readonly complete: (row: RunForCommand) => RunStatusCommand;
      readonly store?: (row: RunForCommand, events: StreamWrite['events']) => readonly Sql[];
    };

/** The decided write to the run's stream, and the stream as it was before. */
type DecidedRun = { readonly row: RunForCommand; readonly loaded: LoadedStream<RunState>; readonly write: StreamWrite };

/** Returns the writes of an append that takes or releases the lock of the workspace, if the new status requires it. */
const prepareLockChange = async (
  store: EventStore,
  { row, loaded, write }: DecidedRun,
  forced: boolean,
): Promise<readonly StreamWrite[]> => {
  const { id, organization, workspace, workspaceSnapshot } = row;
  const lock = await loadWorkspaceLock(store, workspace, organization, workspaceSnapshot);
  const organizationGuard = expectVersion(organization, row.organizationVersion);
  const [before, after] = [needsWorkspaceLock(loaded.state), needsWorkspaceLock(getNewState(write))];
  if (before === after) return [organizationGuard, lock.precondition, write];
  return [organizationGuard, lock.passed(after ? { from: null, to: id } : { from: id, to: null, forced }), write];
};

/** Discards the runs ahead of this run. Refuses if one of them is being planned or applied. */
const prepareDiscardOfRunsAhead = async (
  store: EventStore,
  id: string,
  holder: string,
  organization: string,
): Promise<StreamWrite[]> => {
  const ahead = await listRunsAhead(store.database, id, holder);
  return Promise.all(
    ahead.map(async (other) => {
      const loaded = await store.restore(other.id, run, other.snapshot);
      const { status } = loaded.state;
      if (status === 'absent' || !isActionAllowed(status, 'discard')) {
        throw conflict(`Run is pending: ${other.id} before it is ${status} and cannot be discarded`);
      }
      return decideWrite(run, loaded, organization, { type: 'DiscardRun', data: {} });
    }),
  );
};

/** Returns the writes of an append that passes the lock of the workspace to this run. */
const prepareOvertaking = async (store: EventStore, { row, write }: DecidedRun): Promise<readonly StreamWrite[]> => {
  const { id, organization, workspace, workspaceSnapshot } = row;
  const lock = await loadWorkspaceLock(store, workspace, organization, workspaceSnapshot);
  const { holder } = lock;
  if (holder?.type !== 'runs') throw conflict('Run is pending: the workspace is not locked by another run');
  return [
    expectVersion(organization, row.organizationVersion),
    lock.passed({ from: holder.id, to: id }),
    ...(await prepareDiscardOfRunsAhead(store, id, holder.id, organization)),
    write,
  ];
};

type WritePreparation = (store: EventStore, decided: DecidedRun) => Promise<readonly StreamWrite[]>;

/** How each command affects other streams: the lock of the workspace, and other runs. */
const PREPARE_WRITES = {
  OverridePolicies: (store, decided) => prepareLockChange(store, decided, false),
  ConfirmRun: (store, decided) => prepareLockChange(store, decided, false),
  DiscardRun: (store, decided) => prepareLockChange(store, decided, false),
  CancelRun: (store, decided) => prepareLockChange(store, decided, false),
  ForceCancelRun: (store, decided) => prepareLockChange(store, decided, true),
  ForceExecuteRun: prepareOvertaking,
  ClaimRun: (store, decided) => prepareLockChange(store, decided, false),
  ReportProgress: (store, decided) => prepareLockChange(store, decided, false),
} satisfies Record<RunStatusCommand['type'], WritePreparation>;

/** Returns the statement that ends the lease of the run, if the executor ends its work. */
const buildLeaseEnd = ({ row: { id }, loaded, write }: DecidedRun): readonly Sql[] =>
  needsLease(loaded.state) && !needsLease(getNewState(write)) ? [deleteLease(id)] : [];

export type RunChangeDependencies = { readonly store: EventStore; readonly ids: Ids; readonly clock: Clock };

/**
 * Changes the run, the lock of its workspace and other runs in one append. The append runs the statements `also`, and then reads
 * the run.
 */
export const changeRun = (
  { store, ids }: RunChangeDependencies,
  { id, comment, actor }: RunActionInput,
  requested: RequestedCommand,
  also: readonly Sql[] = [],
): Promise<RunRow> =>
  store.retryOnConflict(async () => {
    const row = await loadRunForCommand(store.database, actor, id);
    authorizeRunCommand(actor, requested.type, row);
    const command = 'complete' in requested ? requested.complete(row) : requested;
    const comments = comment ? [createCommentCommand(ids.next('wsc'), comment, actor)] : [];
    const loaded = await store.restore(id, run, row.snapshot);
    const write = decideWrite(run, loaded, row.organization, command, ...comments);
    const decided = { row, loaded, write };
    const writes = await PREPARE_WRITES[command.type](store, decided);
    const stored = 'complete' in requested ? (requested.store?.(row, write.events) ?? []) : [];
    const statements = [...also, ...stored, ...buildLeaseEnd(decided), selectRunById(id, actor)];
    const { rows } = await store.append(writes, createEventContext(actor), statements);
    return getFirstRow<RunRow>(rows.slice(-1));
  });

/** Changes a run for a job of the server, or for a service of a run task. The append runs the statements `also`. */
export const changeForJob = (
  store: EventStore,
  id: string,
  command: RunCommand,
  context: EventContext,
  also: readonly Sql[] = [],
): Promise<void> =>
  store.retryOnConflict(async () => {
    const row = await loadRunForCommand(store.database, null, id);
    const loaded = await store.restore(id, run, row.snapshot);
    const decided = { row, loaded, write: decideWrite(run, loaded, row.organization, command) };
    const writes = await prepareLockChange(store, decided, false);
    await store.append(writes, context, [...also, ...buildLeaseEnd(decided)]);
  });

/** Ends the work of an executor that has not renewed its lease. Does nothing if it has reported meanwhile. */
export const expireLease = async (
  store: EventStore,
  id: string,
  data: DataOf<RunCommand, 'ExpireLease'>,
  context: EventContext,
): Promise<void> => {
  try {
    await changeForJob(store, id, { type: 'ExpireLease', data }, context);
  } catch (error) {
    // The workspace was deleted.
    if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
  }
};

/** How long an executor can take to stop before callers can cancel the run by force. */
const COOL_OFF_MS = 10_000;

export const createCancellation = (now: Date) =>
  ({ type: 'CancelRun', data: { forceCancelAvailableAt: formatTimestamp(now.getTime() + COOL_OFF_MS) } }) as const;

/** Cancels a run. Does nothing if it has ended, or is being canceled. */
export const cancelRun = async (store: EventStore, id: string, now: Date, context: EventContext): Promise<void> => {
  try {
    await changeForJob(store, id, createCancellation(now), context);
  } catch (error) {
    if (!(error instanceof Refusal) || !['not-found', 'conflict'].includes(error.kind)) throw error;
  }
};

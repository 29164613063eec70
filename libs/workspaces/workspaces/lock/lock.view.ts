import {
  moveToDeleted,
  restoreRows,
  sql,
  type RecordedEvent,
  type RecoverableRows,
  type Sql,
  type Timestamp,
} from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Identity } from '#api/access';
import { isHiddenTeam } from '#identity/people';
import type { WorkspaceEvent } from '../workspaces/workspace.js';

type LockedMessage = Extract<WorkspaceEvent, { type: 'WorkspaceLocked' }>;
type UnlockedMessage = Extract<WorkspaceEvent, { type: 'WorkspaceUnlocked' | 'WorkspaceLockExpired' }>;
type DeletedMessage = Extract<WorkspaceEvent, { type: 'WorkspaceDeleted' }>;
type RecoveredMessage = Extract<WorkspaceEvent, { type: 'WorkspaceRecovered' }>;
type LeasedMessage = Extract<WorkspaceEvent, { type: 'WorkspaceLockLeased' }>;

const buildLock = ({ holder, reason }: LockedMessage['data'], time: string): object => ({ holder, reason, at: time });

/** A replay leaves out unlocks that a later lock overwrites, so the row can exist, with the end of an earlier lock. */
const EVEN_IF_LOCKED = sql.raw('on conflict (organization, workspace) do update set expires_at = null');

/**
 * Returns the statement that stores the lock, and lists the workspace among the locked ones. If another transaction has
 * deleted the organization, there is no workspace, and the statement stores nothing.
 */
export const setLock = (data: LockedMessage['data'], { stream, time }: RecordedEvent): Sql => sql`
  with changed as (
    update workspaces set lock = ${sql.json(buildLock(data, time))}, updated_at = ${time} where id = ${stream}
    returning organization, id)
  insert into workspace_locks (organization, workspace) select organization, id from changed ${EVEN_IF_LOCKED}`;

/** Returns the statement that stores when the lock ends by itself. The replay may have left out the lock: see setLock. */
export const setLease = ({ expiresAt }: LeasedMessage['data'], { stream, time }: RecordedEvent): Sql => sql`
  with leased as (
    update workspaces set lock = lock || ${sql.json({ expiresAt })}, updated_at = ${time}
     where id = ${stream} and lock is not null
    returning organization, id)
  update workspace_locks l set expires_at = ${expiresAt} from leased
   where l.organization = leased.organization and l.workspace = leased.id`;

/** Returns the statement that stores that there is no lock. */
export const clearLock = ({ stream, organization, time }: RecordedEvent): Sql => sql`
  with unlocked as (
    delete from workspace_locks where organization = ${organization} and workspace = ${stream})
  update workspaces set lock = null, updated_at = ${time} where id = ${stream}`;

/** Returns the statement that stores the locks of several workspaces, or that there is none. */
export const setLocks = (events: readonly RecordedEvent<LockedMessage | UnlockedMessage>[]): readonly Sql[] => {
  const streams = events.map(({ stream }) => stream);
  const organizations = events.map(({ organization }) => organization);
  const times = events.map(({ time }) => time);
  const locks = events.map(({ type, data, time }) =>
    type === 'WorkspaceLocked' ? sql.json(buildLock(data, time)) : null,
  );
  return [
    sql`
      with rows as materialized (
        select * from unnest(${streams}::text[], ${organizations}::text[], ${times}::timestamptz[], ${locks}::jsonb[])
               as rows (id, organization, time, lock)),
      changed as (
        update workspaces w set lock = rows.lock, updated_at = rows.time from rows where w.id = rows.id
        returning w.organization, w.id, w.lock),
      unlocked as (
        delete from workspace_locks l using rows
         where rows.lock is null and l.organization = rows.organization and l.workspace = rows.id)
      insert into workspace_locks (organization, workspace)
      select organization, id from changed where lock is not null ${EVEN_IF_LOCKED}`,
  ];
};

const WORKSPACE_ROWS: RecoverableRows = { table: 'workspaces', deletedTable: 'deleted_workspaces' };

/**
 * Returns the statements that delete a workspace and its lock. A workspace that can be recovered gets a row among the
 * deleted ones.
 */
export const deleteWorkspace = (
  { forced, recoverableUntil }: DeletedMessage['data'],
  event: RecordedEvent,
): readonly Sql[] => {
  const { stream, organization } = event;
  const columns = {
    project: sql`project`,
    forced: sql`${forced}::boolean`,
    contents: sql`to_jsonb(deleted) || '{"lock": null}'`,
  };
  return [
    recoverableUntil === null
      ? sql`delete from workspaces where id = ${stream}`
      : moveToDeleted(WORKSPACE_ROWS, { where: sql`id = ${stream}`, columns }, recoverableUntil, event),
    sql`delete from workspace_locks where organization = ${organization} and workspace = ${stream}`,
  ];
};

/** Returns the statement that restores a deleted workspace, perhaps with another name and in another project. */
export const recoverWorkspaceRow = (
  { name, project }: RecoveredMessage['data'],
  { stream, time }: RecordedEvent,
): Sql => {
  const replaced = { name, project, updated_at: time, latest_change_at: time };
  return restoreRows(WORKSPACE_ROWS, sql`id = ${stream}`, replaced);
};

/**
 * Returns the statements that delete all workspaces of an organization, and their locks. The first one waits for
 * transactions that lock a workspace, so the second one finds their rows.
 */
export const deleteWorkspacesOf = (organization: string): readonly Sql[] => [
  sql`delete from workspaces where organization = ${organization}`,
  sql`delete from workspace_locks where organization = ${organization}`,
  sql`delete from deleted_workspaces where organization = ${organization}`,
];

/** The facts that a decision about the lock needs, from the row `w` of workspaces. */
export type LockSnapshot = StreamSnapshot & {
  readonly lockedSince: Timestamp | null;
  /** Whether a team holds the lock that the caller may not see, such as a secret one. */
  readonly isHolderHidden: boolean;
};

const HOLDER = sql.raw(`(w.lock -> 'holder')`);

/** With `actor` null, no caller reads the refusal. */
export const buildLockSnapshotJson = (actor: Identity | null): Sql => {
  const isHidden = actor ? isHiddenTeam(actor, HOLDER, sql.raw('w.organization')) : sql`true`;
  return sql`(
  select ${buildSnapshotJson('its', { lockedSince: `w.lock -> 'at'` })} || jsonb_build_object('isHolderHidden', ${isHidden})
    from event_store.streams its where its.stream = w.id)`;
};

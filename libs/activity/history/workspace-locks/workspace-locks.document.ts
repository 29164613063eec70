import { toOne, type Resource } from '#api/json-api';
import { toActor } from '../workspace-changes/workspace-changes.document.js';
import type { WorkspaceLockRow } from './workspace-locks.queries.js';

/** Returns the duration in full seconds; until now if the workspace is still locked. */
const renderDuration = ({ lockedAt, unlockedAt }: WorkspaceLockRow, now: Date): number =>
  Math.max(
    0,
    Math.floor(((unlockedAt === null ? now.getTime() : Date.parse(unlockedAt)) - Date.parse(lockedAt)) / 1_000),
  );

export const renderWorkspaceLock = (row: WorkspaceLockRow, now: Date): Resource => ({
  id: row.id,
  type: 'workspace-locks',
  attributes: {
    'workspace-name': row.workspaceName,
    reason: row.reason,
    'locked-at': row.lockedAt,
    'locked-by-name': row.holder.name,
    'unlocked-at': row.unlockedAt,
    'unlocked-by-name': row.unlockedBy?.name ?? null,
    forced: row.forced,
    'duration-seconds': renderDuration(row, now),
  },
  relationships: {
    workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
    'locked-by': toActor(row.holder),
    'unlocked-by': row.unlockedBy ? toActor(row.unlockedBy) : { data: null },
  },
});

import { sql, type Message } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { WorkspaceEvent } from './workspace.js';

/** They inherit nothing either, when the project gets a duration again. */
const WITHOUT_DESTROY = { autoDestroyAt: null, autoDestroyActivityDuration: null, inheritsProjectAutoDestroy: false };

const stopWorkspace = (isDestroyed: boolean, isAssessed: boolean): WorkspaceEvent => ({
  type: 'WorkspaceUpdated',
  data: { changes: { ...(isDestroyed ? WITHOUT_DESTROY : {}), ...(isAssessed ? { assessmentsEnabled: false } : {}) } },
});

/**
 * Returns the events after which no workspace of the import has a time or a duration of its own, or health assessments, by the id of the
 * workspace. Reads the copy of the view that the session's search path finds.
 */
export const stopImportedWorkspaces = async (session: DatabaseSession): Promise<ReadonlyMap<string, Message[]>> => {
  const rows = await session.run<{ id: string; isDestroyed: boolean; isAssessed: boolean }>(sql`
    select id, coalesce(has_destroy_time, false) as "isDestroyed", (settings ->> 'assessmentsEnabled')::boolean as "isAssessed"
      from workspaces where has_destroy_time or (settings ->> 'assessmentsEnabled')::boolean order by id`);
  return new Map(rows.map(({ id, isDestroyed, isAssessed }) => [id, [stopWorkspace(isDestroyed, isAssessed)]]));
};

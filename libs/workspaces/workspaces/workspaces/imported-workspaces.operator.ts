import { sql, type Message } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { WorkspaceEvent } from './workspace.js';

/**
 * Returns the events after which no workspace of the import has a time or a duration of its own, by the id of the workspace. Reads the
 * copy of the view that the session's search path finds.
 */
export const stopImportedWorkspaces = async (session: DatabaseSession): Promise<ReadonlyMap<string, Message[]>> => {
  const rows = await session.run<{ id: string }>(sql`select id from workspaces where has_destroy_time order by id`);
  // They inherit nothing either, when the project gets a duration again.
  const changes = { autoDestroyAt: null, autoDestroyActivityDuration: null, inheritsProjectAutoDestroy: false };
  const event = { type: 'WorkspaceUpdated', data: { changes } } satisfies WorkspaceEvent;
  return new Map(rows.map(({ id }) => [id, [event]]));
};

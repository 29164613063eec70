import { sql, type Message } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { ProjectEvent } from './project.js';

/**
 * Returns the events after which no project of the import has a time after which resources are destroyed, by the id of the project.
 * Reads the copy of the view that the session's search path finds.
 */
export const stopImportedProjects = async (session: DatabaseSession): Promise<ReadonlyMap<string, Message[]>> => {
  const rows = await session.run<{ id: string }>(
    sql`select id from projects where settings ->> 'autoDestroyActivityDuration' is not null order by id`,
  );
  const changes = { autoDestroyActivityDuration: null };
  const event = { type: 'ProjectUpdated', data: { changes } } satisfies ProjectEvent;
  return new Map(rows.map(({ id }) => [id, [event]]));
};

import { sql, type Projection, type OrganizationDeleted } from '#platform/kernel';
import type { ProjectEvent } from './project.js';

type ProjectTagSource =
  Extract<ProjectEvent, { type: 'ProjectTagBound' | 'ProjectTagUnbound' | 'ProjectDeleted' }> | OrganizationDeleted;

/**
 * View of the tags that projects bind. Workspaces read inherited tags here, because copying them could mean a hundred
 * thousand writes.
 */
export const projectTags: Projection<ProjectTagSource> = {
  name: 'project_tags',
  version: 1,
  tables: ['project_tags'],
  names: [{ table: 'project_tags', column: 'set_by' }],
  on: {
    ProjectTagBound: ({ key, to }, { stream, organization, version, time, context }) => sql`
      insert into project_tags (project, organization, key, value, added_in, created_at, set_at, set_by)
      values (${stream}, ${organization}, ${key}, ${to}, ${version}, ${time}, ${time}, ${sql.json(context.accessor)})
      on conflict (project, key) do update
        set value = excluded.value, set_at = excluded.set_at, set_by = excluded.set_by`,
    ProjectTagUnbound: ({ key }, { stream }) =>
      sql`delete from project_tags where project = ${stream} and key = ${key}`,
    ProjectDeleted: (_, { stream }) => sql`delete from project_tags where project = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from project_tags where organization = ${stream}`,
  },
};

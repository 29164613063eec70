import { sql, type Projection, type OrganizationDeleted, type Sql } from '#platform/kernel';
import type { ProjectEvent } from './project.js';

type ProjectTagSource = Exclude<ProjectEvent, { type: 'ProjectCreated' | 'ProjectUpdated' }> | OrganizationDeleted;

/** Counts of tags read this table without the projects, so tags of deleted projects must not be there. */
const setTagsAside = (project: string): Sql => sql`
  with deleted as (delete from project_tags t where project = ${project} returning t.*)
  insert into deleted_project_tags (project, organization, key, contents)
  select project, organization, key, to_jsonb(deleted) from deleted`;

const bringTagsBack = (project: string): Sql => sql`
  with recovered as (delete from deleted_project_tags where project = ${project} returning contents)
  insert into project_tags
  select back.* from recovered, jsonb_populate_record(null::project_tags, recovered.contents) back`;

/**
 * View of the tags that projects bind. Workspaces read inherited tags here, because copying them could mean a hundred
 * thousand writes.
 */
export const projectTags: Projection<ProjectTagSource> = {
  name: 'project_tags',
  // Earlier versions do not write the second table.
  version: 2,
  tables: ['project_tags', 'deleted_project_tags'],
  names: [
    { table: 'project_tags', column: 'set_by' },
    { table: 'deleted_project_tags', column: 'contents', at: ['set_by'] },
  ],
  on: {
    ProjectTagBound: ({ key, to }, { stream, organization, version, time, context }) => sql`
      insert into project_tags (project, organization, key, value, added_in, created_at, set_at, set_by)
      values (${stream}, ${organization}, ${key}, ${to}, ${version}, ${time}, ${time}, ${sql.json(context.accessor)})
      on conflict (project, key) do update
        set value = excluded.value, set_at = excluded.set_at, set_by = excluded.set_by`,
    ProjectTagUnbound: ({ key }, { stream }) =>
      sql`delete from project_tags where project = ${stream} and key = ${key}`,
    ProjectDeleted: ({ recoverableUntil }, { stream }) =>
      recoverableUntil === null ? sql`delete from project_tags where project = ${stream}` : setTagsAside(stream),
    ProjectRecovered: (_, { stream }) => bringTagsBack(stream),
    ProjectPurged: (_, { stream }) => sql`delete from deleted_project_tags where project = ${stream}`,
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from project_tags where organization = ${stream}`,
      sql`delete from deleted_project_tags where organization = ${stream}`,
    ],
  },
};

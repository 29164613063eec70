import {
  moveRows,
  restoreRows,
  sql,
  type Projection,
  type OrganizationDeleted,
  type RecoverableRows,
  type Sql,
} from '#platform/kernel';
import type { ProjectEvent } from './project.js';

type ProjectTagSource = Exclude<ProjectEvent, { type: 'ProjectCreated' | 'ProjectUpdated' }> | OrganizationDeleted;

/** Counts of tags read this table without the projects, so tags of deleted projects must not be there. */
const TAG_ROWS: RecoverableRows = { table: 'project_tags', deletedTable: 'deleted_project_tags' };

const moveTagsToDeleted = (project: string): Sql =>
  moveRows(TAG_ROWS, sql`project = ${project}`, {
    project: sql`project`,
    organization: sql`organization`,
    key: sql`key`,
  });

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
      recoverableUntil === null ? sql`delete from project_tags where project = ${stream}` : moveTagsToDeleted(stream),
    ProjectRecovered: (_, { stream }) => restoreRows(TAG_ROWS, sql`project = ${stream}`, {}),
    ProjectPurged: (_, { stream }) => sql`delete from deleted_project_tags where project = ${stream}`,
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from project_tags where organization = ${stream}`,
      sql`delete from deleted_project_tags where organization = ${stream}`,
    ],
  },
};

import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderProject } from './projects.document.js';
import { selectProjectsByIds, type ProjectRow } from './projects.queries.js';

/** The latest document of each project, for its state topic. */
export const publishedProjects: PublishedResource = {
  type: 'projects',
  topic: 'organizations.state',
  description: 'Projects: `GET /api/v2/projects/:id`.',
  schemaVersion: 1,
  tables: ['projects', 'organizations', 'workspace_counts', 'team_projects'],
  alsoChangedBy: [],
  streamColumn: 'id',
  // Workspaces that are created, moved or deleted change the counts of projects.
  findAffected: ({ projects }) => (projects.length > 0 ? { in: 'keys', keys: projects } : { in: 'organization' }),
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<ProjectRow>(selectProjectsByIds(keys, owner), (rows) =>
      rows.map((row) => ({ key: row.id, document: renderDocument(renderProject(row, owner)) })),
    ),
  selectKeys: (scope) =>
    'project' in scope
      ? sql`select id as key from projects where id = ${scope.project}`
      : sql`select id as key from projects where organization = ${scope.organization}`,
};

import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderWorkspace } from './workspaces.document.js';
import { selectWorkspacesByIds, WORKSPACE_DOCUMENT, type WorkspaceRow } from './workspaces.queries.js';

/** Owners need no grants, and bindings have documents of their own. */
const UNUSED_TABLES = ['team_workspaces', 'team_projects', 'project_tags'];

/** The latest document of each workspace, for its state topic. */
export const publishedWorkspaces: PublishedResource = {
  type: 'workspaces',
  topic: 'workspaces.state',
  description: 'Workspaces, with settings, lock, project and names of tags: `GET /api/v2/workspaces/:id`.',
  schemaVersion: 1,
  tables: WORKSPACE_DOCUMENT.tables.filter((table) => !UNUSED_TABLES.includes(table)),
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ type, workspace, projects: [project] }) => {
    if (workspace !== null) return { in: 'keys', keys: [workspace] };
    if (type.startsWith('Project') && project !== undefined) return { in: 'project', project };
    // Variables of sets and policies of organizations are in no document of a workspace.
    return /^(?:Variable|DataRetentionPolicy)/.test(type) ? { in: 'keys', keys: [] } : { in: 'organization' };
  },
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<WorkspaceRow>(selectWorkspacesByIds(keys, owner), (rows) =>
      rows.map((row) => ({
        key: row.id,
        document: renderDocument(renderWorkspace(row, owner)),
      })),
    ),
  selectKeys: (scope) =>
    'project' in scope
      ? sql`select id as key from workspaces where project = ${scope.project}`
      : sql`select id as key from workspaces where organization = ${scope.organization}`,
};

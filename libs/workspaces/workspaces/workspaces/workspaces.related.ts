import type { Sql } from '#platform/kernel';
import { can, type Actor } from '#api/access';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { renderWorkspace } from './workspaces.document.js';
import { selectWorkspacesByIds, type WorkspaceRow } from './workspaces.queries.js';

/** Selects workspaces that the caller may read, for documents of other modules that include them. */
export const selectRelatedWorkspaces = (ids: Sql, actor: Actor): RelatedResources =>
  defineRelated<WorkspaceRow>(selectWorkspacesByIds(ids, actor), (rows) =>
    rows.filter((row) => can(actor, 'read-workspace', row)).map((row) => renderWorkspace(row, actor)),
  );

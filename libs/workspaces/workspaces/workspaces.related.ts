import type { Sql } from '#kernel';
import { can, type Actor } from '#access';
import { defineRelated, type RelatedResources } from '#json-api';
import { renderWorkspace } from './workspaces.document.js';
import { selectWorkspacesByIds, type WorkspaceRow } from './workspaces.queries.js';

/** Workspaces for documents of neighbours that bring them along, where the caller may read them. */
export const selectRelatedWorkspaces = (ids: Sql, actor: Actor): RelatedResources =>
  defineRelated<WorkspaceRow>(selectWorkspacesByIds(ids, actor), (rows) =>
    rows.filter((row) => can(actor, 'read-workspace', row)).map((row) => renderWorkspace(row, actor)),
  );

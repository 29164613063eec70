import type { Sql } from '#kernel';
import { may, type Actor } from '#access';
import { related, type Related } from '#json-api';
import { workspaceResource } from './workspaces.document.js';
import { workspacesByIds, type WorkspaceRow } from './workspaces.queries.js';

/** Workspaces for documents of neighbours that bring them along, where the caller may read them. */
export const relatedWorkspaces = (ids: Sql, actor: Actor): Related =>
  related<WorkspaceRow>(workspacesByIds(ids, actor), (rows) =>
    rows.filter((row) => may(actor, 'read-workspace', row)).map((row) => workspaceResource(row, actor)),
  );

import type { Principal } from '#platform/kernel';
import { toPrincipalType } from '#api/access';
import { toOne, type Relationship, type Resource } from '#api/json-api';
import { decodeFields } from '../writing/history.field-codes.js';
import { listFieldChanges, listFields, type FieldChange } from '../writing/history-fields.js';
import type { WorkspaceChangeRow } from './workspace-changes.queries.js';

const listVisibleChanges = (
  { before, after, fields, changed }: WorkspaceChangeRow,
  hidden: readonly string[],
): readonly FieldChange[] => {
  if (after === null) return [];
  const names = changed ?? decodeFields(fields, listFields(before, after));
  return listFieldChanges(
    before,
    after,
    names.filter((field) => !hidden.includes(field)),
  );
};

/** Returns the actor as clients know it; null for Cadastre itself, which has no document. */
export const toActor = ({ type, id }: Omit<Principal, 'name'>): Relationship => {
  if (type === 'system') return { data: null };
  const principalType = toPrincipalType(type);
  return toOne(principalType, id, `/api/v2/${principalType}/${id}`);
};

export const renderWorkspaceChange = (
  workspace: string,
  row: WorkspaceChangeRow,
  hidden: readonly string[],
): Resource => ({
  id: row.id,
  type: 'workspace-changes',
  attributes: {
    event: row.event,
    version: row.version,
    'created-at': row.createdAt,
    'request-id': row.request,
    'actor-name': row.actor.name,
    changes: listVisibleChanges(row, hidden),
  },
  relationships: {
    actor: toActor(row.actor),
    workspace: toOne('workspaces', workspace, `/api/v2/workspaces/${workspace}`),
  },
});

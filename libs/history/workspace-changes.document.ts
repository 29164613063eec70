import type { Somebody } from '#kernel';
import { personType } from '#access';
import { toOne, type Relationship, type Resource } from '#json-api';
import { changesBetween, type Change } from './fields.js';
import type { WorkspaceChangeRow } from './workspace-changes.queries.js';

const changesOf = ({ before, after, changed }: WorkspaceChangeRow, hidden: readonly string[]): readonly Change[] =>
  after === null
    ? []
    : changesBetween(
        before,
        after,
        changed.filter((field) => !hidden.includes(field)),
      );

/** Whoever it was, as clients know them; of Cadastre itself there is no document. */
export const toActor = ({ type, id }: Omit<Somebody, 'name'>): Relationship => {
  if (type === 'system') return { data: null };
  const known = personType(type);
  return toOne(known, id, `/api/v2/${known}/${id}`);
};

export const workspaceChangeResource = (
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
    changes: changesOf(row, hidden),
  },
  relationships: {
    actor: toActor(row.actor),
    workspace: toOne('workspaces', workspace, `/api/v2/workspaces/${workspace}`),
  },
});

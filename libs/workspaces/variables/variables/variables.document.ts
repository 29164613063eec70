import type { Relationship, Resource } from '#api/json-api';
import type { VariableRow } from './variables.queries.js';

/** Renders a variable. The value of a sensitive variable is null in every response. */
export const renderVariable = (row: VariableRow): Resource => {
  const owner: Relationship = { data: { type: row.ownerType, id: row.owner }, links: { related: row.ownerLink } };
  const ofSet = row.ownerType === 'varsets';
  return {
    id: row.id,
    type: 'vars',
    attributes: {
      key: row.key,
      value: row.value,
      description: row.description,
      sensitive: row.sensitive,
      category: row.category,
      hcl: row.hcl,
      'created-at': row.createdAt,
      'version-id': row.versionId,
    },
    // Only one of the two relationships: decoders expect a workspace in `configurable` and fail on a set.
    relationships: ofSet ? { varset: owner } : { configurable: owner },
    links: {
      self: ofSet
        ? `/api/v2/varsets/${row.owner}/relationships/vars/${row.id}`
        : `/api/v2/workspaces/${row.owner}/vars/${row.id}`,
    },
  };
};

import type { ScimResource } from '../protocol/scim-list.js';
import { GROUP_SCHEMA } from '../protocol/scim-schemas.js';
import type { ScimGroupRow } from './scim-groups.queries.js';

export const renderScimGroup = (row: ScimGroupRow): ScimResource => ({
  schemas: [GROUP_SCHEMA],
  id: row.id,
  ...(row.externalId === null ? {} : { externalId: row.externalId }),
  displayName: row.displayName,
  members: row.members,
  meta: {
    resourceType: 'Group',
    created: row.createdAt,
    lastModified: row.updatedAt,
    location: `/scim/v2/Groups/${row.id}`,
  },
});

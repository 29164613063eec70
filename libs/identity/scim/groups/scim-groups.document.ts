import type { ScimResource } from '../protocol/scim-list.js';
import { GROUP_SCHEMA } from '../protocol/scim-schemas.js';
import type { ScimGroupRow } from './scim-groups.queries.js';

/** Renders a group. `baseUrl` is the address of SCIM. */
export const renderScimGroup = (row: ScimGroupRow, baseUrl: string): ScimResource => ({
  schemas: [GROUP_SCHEMA],
  id: row.id,
  ...(row.externalId === null ? {} : { externalId: row.externalId }),
  displayName: row.displayName,
  ...(row.members === null ? {} : { members: row.members }),
  meta: {
    resourceType: 'Group',
    created: row.createdAt,
    lastModified: row.updatedAt,
    location: `${baseUrl}/Groups/${row.id}`,
  },
});

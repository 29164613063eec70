import type { ScimResource } from '../protocol/scim-list.js';
import { USER_SCHEMA } from '../protocol/scim-schemas.js';
import type { ScimUserRow } from './scim-users.queries.js';

export const renderScimUser = (row: ScimUserRow): ScimResource => ({
  schemas: [USER_SCHEMA],
  id: row.id,
  ...(row.externalId === null ? {} : { externalId: row.externalId }),
  userName: row.userName,
  displayName: row.username,
  active: row.active,
  emails: row.email === null ? [] : [{ value: row.email, type: 'work', primary: true }],
  meta: {
    resourceType: 'User',
    created: row.createdAt,
    lastModified: row.updatedAt,
    location: `/scim/v2/Users/${row.id}`,
  },
});

import type { ScimResource } from '../protocol/scim-list.js';
import { USER_SCHEMA } from '../protocol/scim-schemas.js';
import type { ScimUserRow } from './scim-users.queries.js';

/** Renders a user. `baseUrl` is the address of SCIM. */
export const renderScimUser = (row: ScimUserRow, baseUrl: string): ScimResource => ({
  schemas: [USER_SCHEMA],
  id: row.id,
  ...(row.externalId === null ? {} : { externalId: row.externalId }),
  userName: row.userName,
  displayName: row.username,
  active: row.active,
  emails: listEmails(row),
  meta: {
    resourceType: 'User',
    created: row.createdAt,
    lastModified: row.updatedAt,
    location: `${baseUrl}/Users/${row.id}`,
  },
});

/** Returns the address of the user, if there is one, as SCIM shows it. */
export const listEmails = ({ email }: Pick<ScimUserRow, 'email'>) =>
  email === null ? [] : [{ value: email, type: 'work', primary: true }];

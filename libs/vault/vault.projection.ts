import { sql, type Projection } from '#kernel';
import type { OrganizationEvent } from '#organizations';

/** Has no tables: what it deletes is no view, and is not deleted again when views are made anew. */
export const vault: Projection<Extract<OrganizationEvent, { type: 'OrganizationDeleted' }>> = {
  name: 'vault',
  tables: [],
  on: {
    OrganizationDeleted: (_, { stream }) => sql`delete from vault.secrets where organization = ${stream}`,
  },
};

import { sql, type Projection, type OrganizationDeleted } from '#kernel';

/** Has no tables: what it deletes is no view, and is not deleted again when views are made anew. */
export const vault: Projection<OrganizationDeleted> = {
  name: 'vault',
  tables: [],
  on: {
    OrganizationDeleted: (_, { stream }) => sql`delete from vault.secrets where organization = ${stream}`,
  },
};

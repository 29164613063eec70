import { sql, type Projection, type OrganizationDeleted } from '#platform/kernel';

/** A projection without tables: it deletes secrets, which are no view, and a rebuild does not run it again. */
export const vault: Projection<OrganizationDeleted> = {
  name: 'vault',
  tables: [],
  on: {
    OrganizationDeleted: (_, { stream }) => sql`delete from vault.secrets where organization = ${stream}`,
  },
};

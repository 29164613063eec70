import { sql, type Sql } from '#platform/kernel';
import { STATE_FILES, STORED_KINDS } from './state.files.js';

/** Selects the keys of the files that the state versions of an organization can have. */
export const selectOrganizationFiles = (organization: string): Sql => sql`
  select concat_ws('/', ${STATE_FILES}::text, state_version.id, kind) as key
    from state_versions state_version, unnest(${STORED_KINDS}::text[]) kind
   where state_version.organization = ${organization}`;

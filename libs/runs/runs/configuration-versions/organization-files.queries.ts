import { sql, type Sql } from '#platform/kernel';
import { CONFIGURATION_FILES } from './configuration-version.files.js';

/** Selects the keys of the current archives of an organization's configuration versions. */
export const selectOrganizationFiles = (organization: string): Sql => sql`
  select concat_ws('/', ${CONFIGURATION_FILES}::text, id, case when archive > 1 then 'archive-' || archive else 'archive' end) as key
    from configuration_versions where organization = ${organization}`;

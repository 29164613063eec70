import { sql, type Sql } from '#platform/kernel';
import { RELEASE_FILES } from './release.files.js';

/** Selects the keys of the files of an organization's provider releases. */
export const selectOrganizationFiles = (organization: string): Sql => sql`
  select concat_ws('/', ${RELEASE_FILES}::text, id) as key
    from registry_provider_platforms where organization = ${organization}
  union all
  select concat_ws('/', ${RELEASE_FILES}::text, id, file ->> 'sha256') as key
    from registry_provider_versions, unnest(array[shasums, signature]) file
   where organization = ${organization} and file is not null`;

import { sql, type Sql } from '#platform/kernel';
import { CONFIGURATION_FILES } from '../configuration-versions/configuration-version.files.js';
import { ERRORED_STATE, LOG_FILES, PLAN_UPLOADS, RUN_FILES } from './run.files.js';

/** Selects the keys of an organization's files: the current archives of configuration versions, and the files of runs. */
export const selectOrganizationFiles = (organization: string): Sql => sql`
  select concat_ws('/', ${CONFIGURATION_FILES}::text, id, case when archive > 1 then 'archive-' || archive else 'archive' end) as key
    from configuration_versions where organization = ${organization}
  union all
  select concat_ws('/', ${RUN_FILES}::text, r.id, f.name)
    from runs r
   cross join lateral (
     select unnest(${LOG_FILES}::text[]) as name
      union all
     select concat_ws('-', kind, r.plan_execution ->> 'fence') from unnest(${PLAN_UPLOADS}::text[]) as kind
      union all
     select concat_ws('-', ${ERRORED_STATE}::text, r.apply_execution ->> 'fence')) f
   where r.organization = ${organization}`;

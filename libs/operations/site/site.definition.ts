import type { ModuleDefinition } from '#storage/event-store';

/** The module has no events: it records what processes did. */
export const siteDefinition: ModuleDefinition = {
  name: 'site',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'site.job_runs', backup: 'empty', because: 'it describes the processes of the site that was backed up' },
    { table: 'site.verifications', backup: 'empty', because: 'nobody has verified the restored site yet' },
  ],
};

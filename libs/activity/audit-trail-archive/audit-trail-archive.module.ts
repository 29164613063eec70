import type { ModuleDefinition } from '#storage/event-store';

/** Delivers the logs of audit trails to a bucket. A scheduled job does all of it. */
export const auditTrailArchiveDefinition: ModuleDefinition = {
  name: 'audit-trail-archive',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'audit_trail.archive_deliveries',
      backup: 'rows',
      organizationExport: { without: 'an organization begins another log at its new site' },
    },
  ],
};

import type { ModuleDefinition } from '#storage/event-store';

const withoutLog = { without: 'an organization begins another log at its new site' };

/** The transparency logs of audit trails: tiles of hashes, and checkpoints that the server signs. */
export const auditTrailLogDefinition: ModuleDefinition = {
  name: 'audit-trail-log',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'audit_trail.tiles', backup: 'rows', organizationExport: withoutLog },
    { table: 'audit_trail.signed_checkpoints', backup: 'rows', organizationExport: withoutLog },
  ],
};

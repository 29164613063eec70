import { sql, type Projection, type OrganizationDeleted } from '#platform/kernel';
import type { AuditFactSourceEvent } from './audit-fact-source.js';

export const auditFactSources: Projection<AuditFactSourceEvent | OrganizationDeleted> = {
  name: 'audit_fact_sources',
  version: 1,
  tables: ['audit_fact_sources'],
  on: {
    AuditFactSourceRegistered: ({ source, description }, { stream, organization, time }) => sql`
      insert into audit_fact_sources (id, organization, source, description, created_at)
      values (${stream}, ${organization}, ${source}, ${description}, ${time})`,
    AuditFactSourceRemoved: (_, { stream }) => sql`delete from audit_fact_sources where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from audit_fact_sources where organization = ${stream}`,
  },
};

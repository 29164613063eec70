import { z } from 'zod';
import type { EventKinds } from '#kernel';
import type { AuditFactSourceEvent } from './audit-fact-source.js';

type OrganizationEventStream = { readonly organization: string | null; readonly stream: string };

/**
 * Returns the organization, because the contract's catalogue (§6) has no such resource. Readers of the audit trail see
 * an update of the organization.
 */
const getOrganizationId = (_: unknown, { organization, stream }: OrganizationEventStream): string =>
  organization ?? stream;

/** Schemas, topics and audit rows of registered sources. */
export const auditFactSourceEvents: EventKinds<AuditFactSourceEvent> = {
  AuditFactSourceRegistered: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ source: z.string(), description: z.string() }),
    audit: {
      resource: 'organization',
      action: 'update',
      id: getOrganizationId,
      meta: ({ source }) => ({ audit_fact_source_registered: source }),
    },
  },
  AuditFactSourceRemoved: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ source: z.string() }),
    audit: {
      resource: 'organization',
      action: 'update',
      id: getOrganizationId,
      meta: ({ source }) => ({ audit_fact_source_removed: source }),
    },
  },
};

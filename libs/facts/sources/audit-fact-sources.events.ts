import { z } from 'zod';
import { defineEvents, type EventKinds } from '#kernel';
import { inOrganization } from '#access/rules';
import type { AuditFactSourceEvent } from './audit-fact-source.js';

type OrganizationEventStream = { readonly organization: string | null; readonly stream: string };

/**
 * Returns the organization, because the contract's catalogue (§6) has no such resource. Readers of the audit trail see
 * an update of the organization.
 */
const getOrganizationId = (_: unknown, { organization, stream }: OrganizationEventStream): string =>
  organization ?? stream;

/** Schemas, topics and audit rows of registered sources. */
export const auditFactSourceEvents = defineEvents(
  {
    topic: 'organizations',
    stream: 'afs',
    audited: 'organization',
    live: inOrganization('audit-fact-sources', 'manage-audit-trail'),
  },
  {
    AuditFactSourceRegistered: {
      schema: z.strictObject({ source: z.string(), description: z.string() }),
      audit: {
        action: 'update',
        id: getOrganizationId,
        meta: ({ source }) => ({ audit_fact_source_registered: source }),
      },
      live: 'created',
    },
    AuditFactSourceRemoved: {
      schema: z.strictObject({ source: z.string() }),
      audit: { action: 'update', id: getOrganizationId, meta: ({ source }) => ({ audit_fact_source_removed: source }) },
      live: 'deleted',
    },
  },
) satisfies EventKinds<AuditFactSourceEvent>;

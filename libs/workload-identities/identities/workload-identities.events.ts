import { z } from 'zod';
import { describeChangedAttributes, type EventKinds } from '#kernel';
import type { WorkloadIdentityChanges, WorkloadIdentityEvent, WorkloadTokenIssued } from './workload-identity.js';

const settings = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  issuer: z.string(),
  audience: z.string().nullable(),
  claims: z.record(z.string(), z.array(z.string()).readonly()),
  tokenMinutes: z.int(),
  enabled: z.boolean(),
});

const changes = settings.partial() as unknown as z.ZodType<WorkloadIdentityChanges>;

export const workloadIdentityEvents: EventKinds<WorkloadIdentityEvent | WorkloadTokenIssued> = {
  WorkloadIdentityCreated: {
    schemaVersion: 1,
    topic: 'access',
    schema: settings.extend({ team: z.string() }),
    audit: {
      resource: 'workload_identity',
      action: 'create',
      meta: ({ name, team, issuer }) => ({ name, team, issuer }),
    },
  },
  WorkloadIdentityUpdated: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ team: z.string(), changes }),
    audit: {
      resource: 'workload_identity',
      action: 'update',
      meta: ({ changes }) => describeChangedAttributes(changes),
    },
  },
  WorkloadIdentityDeleted: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ team: z.string(), name: z.string() }),
    audit: { resource: 'workload_identity', action: 'destroy', meta: ({ name, team }) => ({ name, team }) },
  },
  WorkloadTokenIssued: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({
      identity: z.string(),
      token: z.string(),
      issuer: z.string(),
      subject: z.string(),
      expiredAt: z.iso.datetime(),
    }),
    audit: {
      resource: 'workload_identity',
      action: 'issue_token',
      id: ({ identity }) => identity,
      meta: ({ token, issuer, subject }) => ({ token, issuer, subject }),
    },
  },
};

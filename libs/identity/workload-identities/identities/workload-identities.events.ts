import { z } from 'zod';
import { defineEvents, describeChangedAttributes, type EventKinds } from '#platform/kernel';
import { optionalMembers } from '#api/json-api/rules';
import { NO_CREDENTIALS, onResource } from '#api/access/rules';
import type { WorkloadIdentityEvent, WorkloadTokenIssued } from './workload-identity.js';

const settings = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  issuer: z.string(),
  audience: z.string().nullable(),
  claims: z.record(z.string(), z.array(z.string()).readonly()),
  tokenMinutes: z.int(),
  enabled: z.boolean(),
});

const changes = optionalMembers(settings);

export const workloadIdentityEvents = {
  ...defineEvents(
    {
      topic: 'access',
      stream: 'wid',
      audited: 'workload_identity',
      live: onResource('workload-identities', { in: 'team-tokens', team: { field: 'team' } }),
    },
    {
      WorkloadIdentityCreated: {
        schema: settings.extend({ team: z.string() }),
        audit: { action: 'create', meta: ({ name, team, issuer }) => ({ name, team, issuer }) },
        live: 'created',
        ids: { refersTo: { team: ['team'] } },
      },
      WorkloadIdentityUpdated: {
        schema: z.strictObject({ team: z.string(), changes }),
        audit: { action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
        live: 'changed',
        ids: { refersTo: { team: ['team'] } },
      },
      WorkloadIdentityDeleted: {
        schema: z.strictObject({ team: z.string(), name: z.string() }),
        audit: { action: 'destroy', meta: ({ name, team }) => ({ name, team }) },
        live: 'deleted',
        ids: { refersTo: { team: ['team'] } },
      },
    },
  ),
  ...defineEvents(
    { topic: 'access', stream: 'workload-tokens', audited: 'workload_identity', live: NO_CREDENTIALS },
    {
      WorkloadTokenIssued: {
        schema: z.strictObject({
          identity: z.string(),
          token: z.string(),
          issuer: z.string(),
          subject: z.string(),
          expiredAt: z.iso.datetime(),
        }),
        audit: {
          action: 'issue_token',
          id: ({ identity }) => identity,
          meta: ({ token, issuer, subject }) => ({ token, issuer, subject }),
        },
        ids: { refersTo: { identity: ['wid'], token: ['at'] } },
      },
    },
  ),
} satisfies EventKinds<WorkloadIdentityEvent | WorkloadTokenIssued>;

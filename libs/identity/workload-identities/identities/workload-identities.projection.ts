import { claimNames, sql, type OrganizationDeleted, type Projection } from '#platform/kernel';
import type { TeamDeleted } from '#identity/people';
import { WORKLOAD_IDENTITY_NAMES } from './workload-identity-names.js';
import type { WorkloadIdentityEvent } from './workload-identity.js';

export const workloadIdentities: Projection<WorkloadIdentityEvent | TeamDeleted | OrganizationDeleted> = {
  name: 'workload_identities',
  version: 1,
  tables: ['workload_identities'],
  on: {
    WorkloadIdentityCreated: (identity, { stream, organization, time }) => sql`
      insert into workload_identities
        (id, organization, team, name, description, issuer, audience, claims, token_minutes, enabled, created_at)
      values (${stream}, ${organization}, ${identity.team}, ${identity.name}, ${identity.description},
              ${identity.issuer}, ${identity.audience}, ${sql.json(identity.claims)}, ${identity.tokenMinutes},
              ${identity.enabled}, ${time})`,
    WorkloadIdentityUpdated: ({ changes }, { stream }) => sql`
      update workload_identities
         set name = coalesce(${changes.name ?? null}, name),
             description = case when ${changes.description !== undefined} then ${changes.description ?? null}
                                else description end,
             issuer = coalesce(${changes.issuer ?? null}, issuer),
             audience = case when ${changes.audience !== undefined} then ${changes.audience ?? null}
                             else audience end,
             claims = coalesce(${changes.claims ? sql.json(changes.claims) : null}::jsonb, claims),
             token_minutes = coalesce(${changes.tokenMinutes ?? null}, token_minutes),
             enabled = coalesce(${changes.enabled ?? null}, enabled)
       where id = ${stream}`,
    WorkloadIdentityDeleted: (_, { stream }) => sql`delete from workload_identities where id = ${stream}`,
    TeamDeleted: (_, { stream }) => sql`delete from workload_identities where team = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from workload_identities where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const workloadIdentityNames: Projection<
  Extract<WorkloadIdentityEvent, { type: 'WorkloadIdentityCreated' | 'WorkloadIdentityUpdated' }>
> = {
  name: 'workload_identity_names',
  tables: [],
  on: {
    WorkloadIdentityCreated: (_, { stream }) => claimNames(WORKLOAD_IDENTITY_NAMES, [stream]),
    WorkloadIdentityUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(WORKLOAD_IDENTITY_NAMES, [stream]),
  },
};

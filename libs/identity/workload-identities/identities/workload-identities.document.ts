import { toOne, type Resource } from '#api/json-api';
import type { WorkloadIdentityRow } from './workload-identities.view.js';

/** `publicUrl` is the audience of identities that name none. */
export const renderWorkloadIdentity = (row: WorkloadIdentityRow, publicUrl: string): Resource => ({
  id: row.id,
  type: 'workload-identities',
  attributes: {
    name: row.name,
    description: row.description,
    issuer: row.issuer,
    audience: row.audience ?? publicUrl,
    claims: row.claims,
    'token-minutes': row.tokenMinutes,
    enabled: row.enabled,
    'created-at': row.createdAt,
  },
  relationships: { team: toOne('teams', row.team, `/api/v2/teams/${row.team}`) },
  links: { self: `/api/v2/workload-identities/${row.id}` },
});

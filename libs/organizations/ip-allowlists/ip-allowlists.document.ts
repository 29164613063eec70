import { toMany, type Resource } from '#api/json-api';
import type { AllowedRangeRow, IpAllowlistRow } from './ip-allowlists.view.js';

export const renderIpAllowlist = (row: IpAllowlistRow): Resource => ({
  id: row.id,
  type: 'cidr-range-lists',
  attributes: {
    name: row.name,
    description: row.description,
    'enforcement-scope': row.enforcementScope,
    'updated-at': row.updatedAt,
  },
  relationships: {
    organization: { data: { type: 'organizations', id: row.organizationName } },
    'cidr-ranges': toMany('cidr-ranges', row.ranges),
    'agent-pools': toMany('agent-pools', row.agentPools),
  },
  links: { self: `/api/v2/cidr-range-lists/${row.id}` },
});

export const renderAllowedRange = (row: AllowedRangeRow): Resource => ({
  id: row.id,
  type: 'cidr-ranges',
  attributes: {
    range: row.range,
    description: row.description,
    enabled: row.enabled,
    'updated-at': row.updatedAt,
  },
  links: { self: `/api/v2/cidr-ranges/${row.id}` },
});

import type { UniqueNames } from '#platform/kernel';

export const AGENT_POOL_NAMES: UniqueNames = {
  table: 'agent_pools',
  scope: ['organization'],
  constraint: 'agent_pools_organization_name_key',
  noun: 'agent pools',
};

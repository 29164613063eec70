import type { UniqueNames } from '#platform/kernel';

export const IP_ALLOWLIST_NAMES: UniqueNames = {
  table: 'ip_allowlists',
  scope: ['organization'],
  constraint: 'ip_allowlists_organization_name_key',
  noun: 'IP allowlists',
};

import type { UniqueNames } from '#platform/kernel';

export const WORKLOAD_IDENTITY_NAMES: UniqueNames = {
  table: 'workload_identities',
  scope: ['team'],
  constraint: 'workload_identities_team_name_key',
  noun: 'workload identities of a team',
};

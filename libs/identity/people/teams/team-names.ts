import type { UniqueNames } from '#platform/kernel';

export const TEAM_NAMES: UniqueNames = {
  table: 'teams',
  scope: ['organization'],
  constraint: 'teams_organization_name_key',
  noun: 'teams',
};

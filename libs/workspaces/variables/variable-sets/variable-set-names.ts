import type { UniqueNames } from '#platform/kernel';

export const VARIABLE_SET_NAMES: UniqueNames = {
  table: 'variable_sets',
  scope: ['organization'],
  constraint: 'variable_sets_organization_name_key',
  noun: 'variable sets',
};

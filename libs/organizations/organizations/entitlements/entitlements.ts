import type { FeatureSet } from '../organizations/organization.js';

/** What each feature set contains. An organization has `operations` only if a pool executes its remote runs. */
const EVERYTHING = {
  agents: true,
  'audit-logging': true,
  'configuration-designer': false,
  'cost-estimation': false,
  'global-run-tasks': false,
  'module-tests-generation': false,
  operations: true,
  'policy-enforcement': false,
  'policy-limit': null,
  'policy-mandatory-enforcement-limit': null,
  'policy-set-limit': null,
  'private-module-registry': false,
  'private-policy-agents': false,
  'private-run-tasks': false,
  'private-vcs': false,
  'run-task-limit': null,
  'run-task-mandatory-enforcement-limit': null,
  'run-task-workspace-limit': null,
  'run-tasks': false,
  'self-serve-billing': false,
  sentinel: false,
  sso: false,
  stacks: false,
  'state-storage': true,
  teams: true,
  'usage-reporting': false,
  'user-limit': null,
  'vcs-integrations': false,
  'versioned-policy-set-limit': null,
} as const;

export const ENTITLEMENTS: Readonly<Record<FeatureSet, Readonly<Record<keyof typeof EVERYTHING, boolean | null>>>> = {
  everything: EVERYTHING,
  free: { ...EVERYTHING, 'audit-logging': false },
};

import type { ConsolePolicySet } from '../api/policy-sets.js';
import { formatCount } from './counts.js';

export const NO_POLICY_CHANGE = 'You need a team that may manage policies, or to be an owner of the organization.';

const countTargets = (projects: number, workspaces: number): readonly string[] => [
  ...(projects > 0 ? [formatCount(projects, 'project')] : []),
  ...(workspaces > 0 ? [formatCount(workspaces, 'workspace')] : []),
];

/** Returns where a policy set applies: `2 projects, 1 workspace, except 1 workspace`. */
export const describePolicyScope = ({ attributes, relationships }: ConsolePolicySet): string => {
  const { 'project-count': projects, 'workspace-count': workspaces, global } = attributes;
  const included = global ? ['All workspaces'] : countTargets(projects, workspaces);
  if (included.length === 0) return 'Nowhere';
  const excluded = countTargets(
    relationships['project-exclusions'].data.length,
    relationships['workspace-exclusions'].data.length,
  );
  return [included.join(', '), ...(excluded.length > 0 ? [`except ${excluded.join(', ')}`] : [])].join(', ');
};

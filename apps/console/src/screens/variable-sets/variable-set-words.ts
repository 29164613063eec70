import type { VariableSet } from '../../api/variable-sets.js';
import { formatCount } from '../../components/counts.js';

export const NO_SET_CHANGE =
  'You need a team that may manage workspaces or projects, or write access to the variable sets of the project that owns the set.';

/** Returns where a set applies: `2 projects, 1 workspace`. */
export const describeTargets = ({ attributes }: VariableSet): string => {
  if (attributes.global) return 'All workspaces';
  const { 'project-count': projects, 'workspace-count': workspaces } = attributes;
  if (projects + workspaces === 0) return 'Nowhere';
  return [
    ...(projects > 0 ? [formatCount(projects, 'project')] : []),
    ...(workspaces > 0 ? [formatCount(workspaces, 'workspace')] : []),
  ].join(', ');
};

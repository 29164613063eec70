import type { Team } from '../../api/teams.js';

/** `manage-workspaces` is shown as `Manage workspaces`. */
export const formatRight = (right: string): string => {
  const words = right.replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

/** Returns the names of what the team may do in the whole organization. */
export const listRights = ({ attributes }: Team): readonly string[] =>
  Object.entries(attributes['organization-access'])
    .filter(([, isSet]) => isSet === true)
    .map(([right]) => right);

import type { Team } from '../../api/teams.js';

/** Returns the names of what the team may do in the whole organization. */
export const listRights = ({ attributes }: Team): readonly string[] =>
  Object.entries(attributes['organization-access'])
    .filter(([, isSet]) => isSet === true)
    .map(([right]) => right);

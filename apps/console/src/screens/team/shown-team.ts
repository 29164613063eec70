import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationQuery } from '../../api/organizations.js';
import { teamQuery, type Team } from '../../api/teams.js';

export type TeamProps = { readonly organization: string; readonly team: Team };

/** Returns the team of the screen, which its frame has loaded, or null. */
export const useShownTeam = (): TeamProps | null => {
  const { organization, team: id } = useParams({ from: '/$organization/teams/$team' });
  const { data } = useQuery(teamQuery(organization, id));
  return data ? { organization, team: data } : null;
};

/** Returns whether this is the team whose members own the organization. Undefined until the answer is there. */
export const useIsOwnersTeam = ({ organization, team }: TeamProps): boolean | undefined => {
  const { data } = useQuery(organizationQuery(organization));
  return data && data.relationships['owners-team'].data?.id === team.id;
};

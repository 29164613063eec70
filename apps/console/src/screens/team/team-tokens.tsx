import { Stack } from '@mantine/core';
import { tokensOfTeamQuery } from '../../api/tokens.js';
import { OwnerTokensCard } from '../tokens/owner-tokens-card.js';
import { useIsOwnersTeam, useShownTeam, type TeamProps } from './shown-team.js';
import { TeamIdentities } from './team-identities.js';

/** Returns who may manage the tokens, for people who may not. */
const describeManagers = ({ team }: TeamProps, isOwnersTeam: boolean | undefined): string => {
  if (isOwnersTeam === true) return 'You need to be an owner of the organization.';
  return team.attributes['allow-member-token-management']
    ? 'You need to be a member of this team, or to have a team that may manage teams.'
    : 'You need a team that may manage teams, or to be an owner of the organization.';
};

const TeamTokens = (props: TeamProps) => {
  const { organization, team } = props;
  const reason = describeManagers(props, useIsOwnersTeam(props));
  return (
    <Stack>
      <OwnerTokensCard
        organization={organization}
        owner={{ team: team.id }}
        name={team.attributes.name}
        what="team"
        query={tokensOfTeamQuery(organization, team.id)}
        empty="The team has no token yet. A pipeline with OpenID Connect needs none."
        denial="You may not see the tokens of this team."
        canManage={team.attributes.permissions['can-update-api-token']}
        reason={reason}
      />
      <TeamIdentities {...props} reason={reason} />
    </Stack>
  );
};

/** The tokens and workload identities with which programs have the access of a team. */
export const TeamTokensScreen = () => {
  const team = useShownTeam();
  return team && <TeamTokens {...team} />;
};

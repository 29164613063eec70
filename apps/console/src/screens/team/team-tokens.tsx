import { Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tokensOfTeamQuery } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { TokenTable, type ListedToken } from '../tokens/token-table.js';
import { useIsOwnersTeam, useShownTeam, type TeamProps } from './shown-team.js';
import { TeamIdentities } from './team-identities.js';

const loadDialogs = () => import('../tokens/token-dialogs.js');
const CreateTokenDialog = lazyComponent(loadDialogs, 'CreateTokenDialog');
const RevokeTokenDialog = lazyComponent(loadDialogs, 'RevokeTokenDialog');

/** Returns who may manage the tokens, for people who may not. */
const describeManagers = ({ team }: TeamProps, isOwnersTeam: boolean | undefined): string => {
  if (isOwnersTeam === true) return 'You need to be an owner of the organization.';
  return team.attributes['allow-member-token-management']
    ? 'You need to be a member of this team, or to have a team that may manage teams.'
    : 'You need a team that may manage teams, or to be an owner of the organization.';
};

type ListProps = TeamProps & { readonly onRevoke: (row: ListedToken) => void };

const TokenList = ({ organization, team, onRevoke }: ListProps) => {
  const query = useInfiniteQuery(tokensOfTeamQuery(organization, team.id));
  const { name } = team.attributes;
  return (
    <PagedList
      query={query}
      what="team"
      empty={<Text size="sm">The team has no token yet. A pipeline with OpenID Connect needs none.</Text>}
    >
      {(tokens) => (
        <TokenTable
          label={`Tokens of ${name}`}
          isOfOneOwner
          rows={tokens.map((token) => ({ id: token.id, owner: name, token }))}
          onRevoke={onRevoke}
        />
      )}
    </PagedList>
  );
};

type TokensCardProps = TeamProps & { readonly reason: string };

const TokensCard = ({ organization, team, reason }: TokensCardProps) => {
  const [isCreating, dialog] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedToken | null>(null);
  const canManage = team.attributes.permissions['can-update-api-token'];
  return (
    <Card
      title="Tokens"
      actions={
        <CreateButton
          label="New token"
          size="xs"
          variant="default"
          isPermitted={canManage}
          reason={reason}
          onClick={dialog.open}
        />
      }
    >
      {canManage ? (
        <TokenList organization={organization} team={team} onRevoke={setRevoked} />
      ) : (
        <Text size="sm" c="dimmed">
          You may not see the tokens of this team. {reason}
        </Text>
      )}
      {isCreating && (
        <CreateTokenDialog
          organization={organization}
          title={`New token of ${team.attributes.name}`}
          fixedOwner={{ team: team.id }}
          onClose={dialog.close}
        />
      )}
      {revoked && <RevokeTokenDialog organization={organization} row={revoked} onClose={() => setRevoked(null)} />}
    </Card>
  );
};

const TeamTokens = (props: TeamProps) => {
  const reason = describeManagers(props, useIsOwnersTeam(props));
  return (
    <Stack>
      <TokensCard {...props} reason={reason} />
      <TeamIdentities {...props} reason={reason} />
    </Stack>
  );
};

/** The tokens and workload identities with which programs have the access of a team. */
export const TeamTokensScreen = () => {
  const team = useShownTeam();
  return team && <TeamTokens {...team} />;
};

import { Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { usePermission } from '../../api/organizations.js';
import { listRows } from '../../api/pages.js';
import { teamsQuery } from '../../api/teams.js';
import { organizationTokenQuery, teamTokensQuery, type AuthenticationToken } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { KeyIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { PeopleTabs } from '../people/people-tabs.js';
import { TokenTable, type ListedToken } from './token-table.js';

const CreateTokenDialog = lazyComponent(() => import('./token-dialogs.js'), 'CreateTokenDialog');
const RevokeTokenDialog = lazyComponent(() => import('./token-dialogs.js'), 'RevokeTokenDialog');

const NO_CREATION = 'You need a team whose members manage its tokens, or that may manage teams.';

type SectionProps = { readonly organization: string; readonly onRevoke: (row: ListedToken) => void };

const OwnTokens = () => (
  <Card title="Your own tokens and sessions">
    <Text size="sm">
      <TextLink to="/~account/tokens" underline="always">
        Your tokens
      </TextLink>{' '}
      are for your own command line.{' '}
      <TextLink to="/~account/sessions" underline="always">
        Your sessions
      </TextLink>{' '}
      are the browsers in which you are signed in.
    </Text>
  </Card>
);

const TokenSection = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <Title order={2} size="h5" mb="sm">
      {title}
    </Title>
    {children}
  </section>
);

const OrganizationTokens = ({ organization, onRevoke }: SectionProps) => {
  const general = useQuery(organizationTokenQuery(organization, 'organization'));
  const audit = useQuery(organizationTokenQuery(organization, 'audit-trails'));
  const rows = [
    ...(general.data ? [{ id: general.data.id, owner: organization, token: general.data }] : []),
    ...(audit.data ? [{ id: audit.data.id, owner: `${organization}, audit trail only`, token: audit.data }] : []),
  ];
  if (rows.length === 0) return null;
  return (
    <TokenSection title="Tokens of the organization">
      <TokenTable label="Tokens of the organization" rows={rows} onRevoke={onRevoke} />
    </TokenSection>
  );
};

const NoToken = () => (
  <EmptyState icon={KeyIcon} title="There is no token of a team that you may manage">
    <Text>
      Pipelines and servers use tokens of teams. Owners create them here, and so do members whose team lets them manage
      its tokens. A pipeline with OpenID Connect needs none.
    </Text>
  </EmptyState>
);

const TeamTokens = ({ organization, onRevoke }: SectionProps) => {
  const query = useInfiniteQuery(teamTokensQuery(organization));
  const teams = useInfiniteQuery(teamsQuery(organization));
  const names = new Map(listRows(teams.data).map(({ id, attributes }) => [id, attributes.name]));
  const toRow = (token: AuthenticationToken): ListedToken => {
    const team = token.relationships.team?.data.id ?? '';
    return { id: token.id, owner: names.get(team) ?? team, token };
  };
  return (
    <PagedList query={query} what="organization" empty={<NoToken />}>
      {(tokens) => (
        <TokenSection title="Tokens of teams">
          <TokenTable label="Tokens of teams" rows={tokens.map(toRow)} onRevoke={onRevoke} />
        </TokenSection>
      )}
    </PagedList>
  );
};

/** Tokens of the organization and of teams that the person may manage. */
export const TokensScreen = () => {
  const { organization } = useParams({ from: '/$organization/people/tokens' });
  const [isCreating, dialog] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedToken | null>(null);
  const isOwner = usePermission(organization, 'can-update-api-token');
  const teams = useInfiniteQuery(teamsQuery(organization));
  const managesTeam = listRows(teams.data).some(({ attributes }) => attributes.permissions['can-update-api-token']);
  return (
    <Page
      title="Tokens"
      actions={
        <CreateButton
          label="New token"
          isPermitted={isOwner === undefined ? undefined : isOwner || managesTeam}
          reason={NO_CREATION}
          onClick={dialog.open}
        />
      }
    >
      <PeopleTabs organization={organization} />
      <Stack gap="lg">
        {isOwner && <OrganizationTokens organization={organization} onRevoke={setRevoked} />}
        <TeamTokens organization={organization} onRevoke={setRevoked} />
        <OwnTokens />
      </Stack>
      {isCreating && (
        <CreateTokenDialog organization={organization} isOwner={isOwner ?? false} onClose={dialog.close} />
      )}
      {revoked && <RevokeTokenDialog organization={organization} row={revoked} onClose={() => setRevoked(null)} />}
    </Page>
  );
};

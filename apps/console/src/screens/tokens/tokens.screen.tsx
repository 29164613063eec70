import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { ApiError } from '../../api/api-error.js';
import { organizationQuery } from '../../api/organizations.js';
import { teamsQuery } from '../../api/teams.js';
import { organizationTokenQuery, teamTokensQuery } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { KeyIcon, PlusIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { Page } from '../../components/page.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, ErrorState, LoadingLines, NotFoundState } from '../../components/states.js';
import { PeopleTabs } from '../people/people-tabs.js';
import { TokenTable, type ListedToken } from './token-table.js';

const CreateTokenDialog = lazyComponent(() => import('./token-dialogs.js'), 'CreateTokenDialog');
const RevokeTokenDialog = lazyComponent(() => import('./token-dialogs.js'), 'RevokeTokenDialog');

const NO_CREATION = 'You need a team whose members manage its tokens, or that may manage teams.';

type SectionProps = { readonly organization: string; readonly onRevoke: (row: ListedToken) => void };

/** The pages of the account belong to the server (libs/identity/sign-in). */
const OwnTokens = () => (
  <Card title="Your own tokens and sessions">
    <Text size="sm">
      <Anchor size="sm" underline="always" href="/account/tokens">
        Your tokens
      </Anchor>{' '}
      are for your own command line.{' '}
      <Anchor size="sm" underline="always" href="/account">
        Your account
      </Anchor>{' '}
      lists the browsers in which you are signed in, and how you sign in.
    </Text>
  </Card>
);

const OrganizationTokens = ({ organization, onRevoke }: SectionProps) => {
  const general = useQuery(organizationTokenQuery(organization, 'organization'));
  const audit = useQuery(organizationTokenQuery(organization, 'audit-trails'));
  const rows = [
    ...(general.data ? [{ owner: organization, token: general.data }] : []),
    ...(audit.data ? [{ owner: `${organization}, audit trail only`, token: audit.data }] : []),
  ];
  if (rows.length === 0) return null;
  return (
    <section aria-label="Tokens of the organization">
      <Title order={2} size="h5" mb="sm">
        Tokens of the organization
      </Title>
      <TokenTable label="Tokens of the organization" rows={rows} onRevoke={onRevoke} />
    </section>
  );
};

const TeamTokens = ({ organization, onRevoke }: SectionProps) => {
  const query = useInfiniteQuery(teamTokensQuery(organization));
  const teams = useInfiniteQuery(teamsQuery(organization));
  if (query.error instanceof ApiError && query.error.isNotFound) return <NotFoundState what="organization" />;
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={4} height={36} />;
  const names = new Map(
    teams.data?.pages.flatMap(({ data }) => data.map(({ id, attributes }) => [id, attributes.name] as const)),
  );
  const rows = query.data.pages.flatMap(({ data }) =>
    data.map((token) => {
      const team = token.relationships.team?.data.id ?? '';
      return { owner: names.get(team) ?? team, token };
    }),
  );
  if (rows.length === 0) {
    return (
      <EmptyState icon={KeyIcon} title="There is no token of a team that you may manage">
        <Text>
          Pipelines and servers use tokens of teams. Owners create them here, and so do members whose team lets them
          manage its tokens. A pipeline with OpenID Connect needs none.
        </Text>
      </EmptyState>
    );
  }
  return (
    <section aria-label="Tokens of teams">
      <Title order={2} size="h5" mb="sm">
        Tokens of teams
      </Title>
      <TokenTable label="Tokens of teams" rows={rows} onRevoke={onRevoke} />
      <LoadMore mt="md" query={query} />
    </section>
  );
};

/** Tokens of the organization and of teams that the person may manage. */
export const TokensScreen = () => {
  const { organization } = useParams({ from: '/$organization/people/tokens' });
  const [isCreating, dialog] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedToken | null>(null);
  const { data } = useQuery(organizationQuery(organization));
  const isOwner = data?.attributes.permissions['can-update-api-token'] ?? false;
  const teams = useInfiniteQuery(teamsQuery(organization));
  const managesTeam =
    teams.data?.pages.some((page) =>
      page.data.some(({ attributes }) => attributes.permissions['can-update-api-token']),
    ) ?? false;
  return (
    <Page
      title="Tokens"
      breadcrumbs={[{ label: organization }, { label: 'People', to: `/${organization}/people` }]}
      actions={
        data && (
          <PermittedButton
            command="New token"
            isPermitted={isOwner || managesTeam}
            reason={NO_CREATION}
            leftSection={<PlusIcon size={16} />}
            onClick={dialog.open}
          >
            New token
          </PermittedButton>
        )
      }
    >
      <PeopleTabs organization={organization} />
      <Stack gap="lg">
        {isOwner && <OrganizationTokens organization={organization} onRevoke={setRevoked} />}
        <TeamTokens organization={organization} onRevoke={setRevoked} />
        <OwnTokens />
      </Stack>
      {isCreating && <CreateTokenDialog organization={organization} isOwner={isOwner} onClose={dialog.close} />}
      {revoked && <RevokeTokenDialog organization={organization} row={revoked} onClose={() => setRevoked(null)} />}
    </Page>
  );
};

import { Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identityProvidersQuery } from '../../api/identity-providers.js';
import { listRows } from '../../api/pages.js';
import { scimTokensQuery, type ScimSource } from '../../api/scim-tokens.js';
import type { AuthenticationToken } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/copy.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { PagedList } from '../../components/paged-list.js';
import { Time } from '../../components/times.js';
import { TokenEnd } from '../../components/token-end.js';
import { SitePage } from '../site/site-page.js';

const loadDialogs = () => import('./scim-dialogs.js');
const CreateScimTokenDialog = lazyComponent(loadDialogs, 'CreateScimTokenDialog');
const RevokeScimTokenDialog = lazyComponent(loadDialogs, 'RevokeScimTokenDialog');

const COLUMNS: readonly DataColumn<AuthenticationToken>[] = [
  { header: 'Description', cell: ({ attributes }) => <LongText text={attributes.description || 'No description'} /> },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
  {
    header: 'Last used',
    cell: ({ attributes }) =>
      attributes['last-used-at'] === null ? 'Never' : <Time value={attributes['last-used-at']} />,
  },
  { header: 'Ends', cell: ({ attributes }) => <TokenEnd end={attributes['expired-at']} /> },
];

type Revoked = { readonly id: string; readonly name: string };

type SourceProps = {
  readonly source: ScimSource;
  readonly title: string;
  readonly onRevoke: (token: Revoked) => void;
};

const SourceTokens = ({ source, title, onRevoke }: SourceProps) => {
  const query = useInfiniteQuery(scimTokensQuery(source));
  return (
    <Card title={title}>
      <PagedList query={query} what="provider" empty={<Text size="sm">There is no token.</Text>}>
        {(tokens) => (
          <DataTable
            label={title}
            isInCard
            rows={tokens}
            columns={COLUMNS}
            actions={({ id, attributes }) => {
              const name = attributes.description || 'the token without a description';
              return {
                name,
                actions: [{ action: 'Revoke', isDangerous: true, onClick: () => onRevoke({ id, name }) }],
              };
            }}
          />
        )}
      </PagedList>
    </Card>
  );
};

/** The tokens with which identity providers manage users and groups, for site administrators. */
export const SiteScimScreen = () => {
  const query = useInfiniteQuery(identityProvidersQuery());
  const [isCreating, dialog] = useDisclosure(false);
  const [revoked, setRevoked] = useState<Revoked | null>(null);
  const providers = listRows(query.data);
  return (
    <SitePage
      title="SCIM"
      description="With SCIM, an identity provider creates, suspends and deletes users and groups of this site."
      error={query.error}
      actions={
        <CreateButton label="New SCIM token" isPermitted={query.data ? true : undefined} onClick={dialog.open} />
      }
    >
      <Stack>
        <Card title="Address">
          <Text size="sm">Enter this address and a token at the identity provider.</Text>
          <CodeBlock code={`${window.location.origin}/scim/v2`} label="the address of SCIM" />
        </Card>
        {providers.map(({ id, attributes }) => (
          <SourceTokens key={id} source={id} title={`Tokens of ${attributes.name}`} onRevoke={setRevoked} />
        ))}
        {query.data && <SourceTokens source={null} title="Tokens without a provider" onRevoke={setRevoked} />}
      </Stack>
      {isCreating && <CreateScimTokenDialog providers={providers} onClose={dialog.close} />}
      {revoked && <RevokeScimTokenDialog {...revoked} onClose={() => setRevoked(null)} />}
    </SitePage>
  );
};

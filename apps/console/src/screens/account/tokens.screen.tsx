import { Code, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ownTokensQuery, type OwnToken } from '../../api/own-tokens.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { KeyIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { TokenEnd } from '../../components/token-end.js';
import { AccountPage } from './account-page.js';
import { nameOwnToken, SHORT_ACCESS } from './token-words.js';

const loadDialogs = () => import('./token-dialogs.js');
const CreateOwnTokenDialog = lazyComponent(loadDialogs, 'CreateOwnTokenDialog');
const RevokeOwnTokenDialog = lazyComponent(loadDialogs, 'RevokeOwnTokenDialog');

const describeAccess = ({ attributes: { access }, relationships: { organization } }: OwnToken): string => {
  const words = SHORT_ACCESS[access ?? 'full'];
  return organization?.data ? `${words}, in ${organization.data.id}` : words;
};

const COLUMNS: readonly DataColumn<OwnToken>[] = [
  { header: 'Description', cell: ({ attributes }) => <LongText text={attributes.description || 'No description'} /> },
  { header: 'Access', cell: describeAccess },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
  {
    header: 'Last used',
    cell: ({ attributes }) =>
      attributes['last-used-at'] === null ? 'Never' : <Time value={attributes['last-used-at']} />,
  },
  { header: 'Ends', cell: ({ attributes }) => <TokenEnd end={attributes['expired-at']} /> },
];

const Tokens = ({ user }: { readonly user: string }) => {
  const query = useInfiniteQuery(ownTokensQuery(user));
  const [revoked, setRevoked] = useState<OwnToken | null>(null);
  const empty = (
    <EmptyState icon={KeyIcon} title="You have no tokens">
      <Text>
        <Code>terraform login</Code> creates a token for your computer. Create one here for a computer without a
        browser, or for a program that you paste it into.
      </Text>
    </EmptyState>
  );
  return (
    <>
      <PagedList query={query} what="account" empty={empty}>
        {(tokens) => (
          <DataTable
            label="Your tokens"
            rows={tokens}
            columns={COLUMNS}
            actions={(token) => ({
              name: nameOwnToken(token),
              actions: [{ action: 'Revoke', isDangerous: true, onClick: () => setRevoked(token) }],
            })}
          />
        )}
      </PagedList>
      {revoked && <RevokeOwnTokenDialog token={revoked} onClose={() => setRevoked(null)} />}
    </>
  );
};

/** The programs that can act as the person. */
export const OwnTokensScreen = () => {
  const [isCreating, dialog] = useDisclosure(false);
  return (
    <AccountPage
      title="Your tokens"
      description="With a token, a program does everything that you may do, unless you restrict the token."
      actions={<CreateButton label="New token" isPermitted onClick={dialog.open} />}
    >
      {({ id }) => (
        <>
          <Tokens user={id} />
          {isCreating && <CreateOwnTokenDialog user={id} onClose={dialog.close} />}
        </>
      )}
    </AccountPage>
  );
};

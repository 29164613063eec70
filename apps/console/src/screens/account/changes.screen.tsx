import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { accountChangesQuery, type AccountChange } from '../../api/account-changes.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { AuditTrailIcon } from '../../components/icons.js';
import { EmptyState, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import { AccountPage } from './account-page.js';

const COLUMNS: readonly DataColumn<AccountChange>[] = [
  { header: 'Change', cell: ({ attributes }) => attributes.description },
  { header: 'Address', cell: ({ attributes }) => attributes.address ?? '–' },
  { header: 'When', cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

const Changes = ({ user }: { readonly user: string }) => {
  const query = useQuery(accountChangesQuery(user));
  return (
    <QueryState query={query} what="account">
      {(changes) =>
        changes.length === 0 ? (
          <EmptyState icon={AuditTrailIcon} title="Nothing has changed">
            <Text>New passwords, codes, passkeys, tokens, and sign-ins with new browsers appear here.</Text>
          </EmptyState>
        ) : (
          <>
            <DataTable label="Recent changes" rows={changes} columns={COLUMNS} />
            <Text size="sm" mt="md">
              Did somebody else make one of these changes? End{' '}
              <TextLink to="/~account/sessions" underline="always">
                all other sessions
              </TextLink>
              , revoke{' '}
              <TextLink to="/~account/tokens" underline="always">
                tokens
              </TextLink>{' '}
              that you do not know, and ask a site administrator to reset how you sign in.
            </Text>
          </>
        )
      }
    </QueryState>
  );
};

/** The last changes of the account, so that the person notices a factor or a token that somebody else has added. */
export const ChangesScreen = () => (
  <AccountPage
    title="Recent changes"
    description="The last ten changes of your sign-in methods and tokens, and sign-ins with new browsers."
  >
    {({ id }) => <Changes user={id} />}
  </AccountPage>
);

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { accountQuery, type Account } from '../../api/account.js';
import { Page } from '../../components/page.js';
import { QueryState } from '../../components/states.js';
import { TabLinks } from '../../components/tab-links.js';

const TABS = [
  // One screen a line.
  { label: 'Profile', to: '/~account' },
  { label: 'Sign-in', to: '/~account/sign-in' },
  { label: 'Sessions', to: '/~account/sessions' },
  { label: 'Tokens', to: '/~account/tokens' },
  { label: 'Changes', to: '/~account/changes' },
] as const;

type AccountPageProps = {
  readonly title: string;
  readonly description?: string;
  readonly actions?: ReactNode;
  readonly children: (account: Account) => ReactNode;
};

/** The frame around each screen of the account. */
export const AccountPage = ({ title, description, actions, children }: AccountPageProps) => (
  <Page title={title} actions={actions} {...(description === undefined ? {} : { description })}>
    <TabLinks label="Your account" tabs={TABS} />
    <QueryState query={useQuery(accountQuery)} what="account">
      {children}
    </QueryState>
  </Page>
);

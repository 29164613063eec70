import { Badge, Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionsQuery, useEndSession, type Session } from '../../api/own-sessions.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { UserIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { showToast } from '../../toasts.js';
import { AccountPage } from './account-page.js';

const EndOthersDialog = lazyComponent(() => import('./end-others-dialog.js'), 'EndOthersDialog');

const METHODS: Readonly<Record<string, string>> = {
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Identity provider',
  link: 'Sign-in link',
};

const COLUMNS: readonly DataColumn<Session>[] = [
  {
    header: 'Browser',
    cell: ({ attributes }) => (
      <>
        <LongText text={attributes['user-agent'] ?? 'Unknown program'} />
        {attributes.current && <Badge color="green">This browser</Badge>}
      </>
    ),
  },
  { header: 'Signed in with', cell: ({ attributes }) => METHODS[attributes.method] ?? attributes.method },
  { header: 'Address', cell: ({ attributes }) => attributes.address ?? '–' },
  { header: 'Since', cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
  {
    header: 'Last used',
    cell: ({ attributes }) =>
      attributes['last-used-at'] === null ? 'Never' : <Time value={attributes['last-used-at']} />,
  },
];

const nameSession = ({ attributes }: Session): string => `the session at ${attributes.address ?? 'an unknown address'}`;

const SessionTable = ({ sessions }: { readonly sessions: readonly Session[] }) => {
  const change = useEndSession();
  const end = ({ id }: Session) => ({
    action: 'End',
    isDangerous: true,
    onClick: () =>
      change.mutate(id, { onSuccess: () => void showToast({ kind: 'success', message: 'The session has ended.' }) }),
  });
  return (
    <>
      <FormProblems error={change.error} />
      <DataTable
        label="Sessions"
        rows={sessions}
        columns={COLUMNS}
        actions={(session) => ({
          name: nameSession(session),
          actions: session.attributes.current ? [] : [end(session)],
        })}
      />
    </>
  );
};

const Sessions = ({ user }: { readonly user: string }) => {
  const query = useInfiniteQuery(sessionsQuery(user));
  const [isEnding, setEnding] = useState(false);
  const empty = (
    <EmptyState icon={UserIcon} title="You are signed in nowhere">
      <Text>Programs that use a token are listed below Tokens.</Text>
    </EmptyState>
  );
  return (
    <>
      <PagedList query={query} what="account" empty={empty}>
        {(sessions) => (
          <>
            <SessionTable sessions={sessions} />
            {sessions.some(({ attributes }) => !attributes.current) && (
              <Group>
                <Button variant="default" onClick={() => setEnding(true)}>
                  End all other sessions
                </Button>
              </Group>
            )}
          </>
        )}
      </PagedList>
      {isEnding && <EndOthersDialog user={user} onClose={() => setEnding(false)} />}
    </>
  );
};

/** The browsers in which the person is signed in. */
export const SessionsScreen = () => (
  <AccountPage title="Sessions" description="The browsers in which you are signed in.">
    {({ id }) => <Sessions user={id} />}
  </AccountPage>
);

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { accountQuery } from '../api/account.js';
import { giveUpChanges, resumeRequests, type SignInDemand } from '../api/session.js';
import { Dialog } from '../components/dialog.js';
import { PendingButton } from '../components/pending-button.js';

const TEXTS = {
  ended: {
    title: 'Your session has ended',
    text: 'Sign in again in another tab, and then continue here. What you have entered stays.',
  },
  recent: {
    title: 'Sign in again to continue',
    text:
      'This change gives access for a long time, so it needs a sign-in of the last 15 minutes. Sign in again in another ' +
      'tab, and then continue here. What you have entered stays.',
  },
} as const;

const PROBLEMS = {
  'signed-out': 'You are not signed in yet.',
  'other-person':
    'Another person is signed in. Sign in as before, or load this page again and enter your changes again.',
  'not-recent': 'You have not signed in again yet.',
  'no-answer': 'The server did not answer. Check the connection, and try again.',
} as const;

const readPerson = async (response: Response): Promise<string> =>
  ((await response.json()) as { readonly data: { readonly id: string } }).data.id;

/** Sends the requests that wait, if the person with this id has signed in again. */
const resumeSession = async (person: string | null): Promise<'resumed' | keyof typeof PROBLEMS> => {
  const response = await fetch('/api/v2/account/details').catch(() => null);
  if (response?.status === 401) return 'signed-out';
  if (!response?.ok) return 'no-answer';
  if (person !== null && (await readPerson(response)) !== person) return 'other-person';
  resumeRequests();
  return 'resumed';
};

/**
 * Lets the person sign in again without losing what is entered on the screen. After the session has ended, it covers what
 * the screen shows.
 */
export const SessionDialog = ({ demand }: { readonly demand: SignInDemand }) => {
  const queries = useQueryClient();
  const [problem, setProblem] = useState<keyof typeof PROBLEMS | null>(demand === 'recent-again' ? 'not-recent' : null);
  const [isChecking, setChecking] = useState(false);
  const resume = async () => {
    setChecking(true);
    const outcome = await resumeSession(queries.getQueryData(accountQuery.queryKey)?.id ?? null);
    setChecking(false);
    if (outcome !== 'resumed') setProblem(outcome);
  };
  const hasEnded = demand === 'ended';
  const { title, text } = TEXTS[hasEnded ? 'ended' : 'recent'];
  return (
    <Dialog
      isLocked
      onClose={() => undefined}
      withCloseButton={false}
      title={title}
      zIndex={300}
      {...(hasEnded && { overlayProps: { backgroundOpacity: 0.97 } })}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        {problem !== null && (
          <Alert color="red" role="alert">
            {PROBLEMS[problem]}
          </Alert>
        )}
        <Group justify="flex-end">
          {!hasEnded && (
            <Button variant="default" onClick={giveUpChanges}>
              Cancel
            </Button>
          )}
          <Button
            variant="default"
            data-autofocus
            component="a"
            href={`/sign-in?${hasEnded ? '' : 'confirm=1&'}return_to=${encodeURIComponent('/app')}`}
            target="_blank"
            rel="noopener"
          >
            Sign in
          </Button>
          <PendingButton isPending={isChecking} onClick={() => void resume()}>
            Continue
          </PendingButton>
        </Group>
      </Stack>
    </Dialog>
  );
};

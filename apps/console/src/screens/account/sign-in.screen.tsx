import { Anchor, Stack, Text } from '@mantine/core';
import { Card } from '../../components/card.js';
import { AccountPage } from './account-page.js';

/** The pages of the server that change how a person signs in (libs/identity/sign-in). They work without this console. */
const METHODS = [
  {
    title: 'Passkeys',
    text: 'Sign in with your finger, your face or a PIN. A passkey needs no password, and counts as a second factor.',
    link: 'Add, rename or remove passkeys',
    section: 'passkeys-title',
  },
  {
    title: 'Password',
    text: 'Set, change or remove the password. Each change ends your other sessions.',
    link: 'Change the password',
    section: 'password-title',
  },
  {
    title: 'One-time codes',
    text: 'An app on your phone shows a code that you type after the password. Recovery codes replace the app once each.',
    link: 'Set up one-time codes and recovery codes',
    section: 'totp-title',
  },
  {
    title: 'Identity providers',
    text: 'Link your account with an identity provider of this site, or unlink it.',
    link: 'Manage linked identity providers',
    section: 'identities-title',
  },
] as const;

/** How the person signs in. */
export const SignInScreen = () => (
  <AccountPage
    title="Sign-in"
    description="These changes have pages of their own, which lead back here. They need a sign-in of the last 15 minutes."
  >
    {() => (
      <Stack maw={720}>
        {METHODS.map(({ title, text, link, section }) => (
          <Card key={title} title={title}>
            <Text size="sm">{text}</Text>
            <Anchor size="sm" underline="always" href={`/account#${section}`}>
              {link}
            </Anchor>
          </Card>
        ))}
      </Stack>
    )}
  </AccountPage>
);

import { Alert, Badge, Group, Stack, Text, TextInput } from '@mantine/core';
import { useChangeAccount, type Account } from '../../api/account.js';
import { Card, FactList } from '../../components/card.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { AccountPage } from './account-page.js';

const NO_ADDRESS = 'You have no address yet.';

const NameAndAddress = ({ account }: { readonly account: Account }) => {
  const { username, email, permissions, ...attributes } = account.attributes;
  const form = useSettings({ username, email: email ?? '' }, useChangeAccount());
  const requested = attributes['unconfirmed-email'];
  return (
    <SettingsCard
      title="Name and address"
      form={form}
      canChange={permissions['can-change-username']}
      reason="This token cannot change the account."
    >
      <TextInput
        label="User name"
        description="Others find you by it, and audit trails show it."
        required
        {...form.text('username')}
      />
      <TextInput
        label="E-mail address"
        description={`Invitations and messages go to it. ${email === null ? NO_ADDRESS : ''}`.trim()}
        type="email"
        {...form.text('email')}
      />
      {requested !== null && (
        <Alert color="yellow" variant="light" role="status">
          A site administrator must confirm the new address {requested}. Until then, your address stays.
        </Alert>
      )}
    </SettingsCard>
  );
};

const Identity = ({ account: { id, attributes } }: { readonly account: Account }) => (
  <Card title="Account">
    <Group gap="md" align="center" wrap="nowrap">
      <img src={attributes['avatar-url']} alt="" width={56} height={56} />
      <Stack gap={4}>
        <Text fw={600}>{attributes.username}</Text>
        {attributes['is-site-admin'] && <Badge>Site administrator</Badge>}
      </Stack>
    </Group>
    <FactList facts={[{ label: 'Id', value: <code>{id}</code> }]} />
  </Card>
);

/** The name and the address of the signed-in person. */
export const ProfileScreen = () => (
  <AccountPage title="Profile">
    {(account) => (
      <Stack maw={720}>
        <Identity account={account} />
        <NameAndAddress account={account} />
      </Stack>
    )}
  </AccountPage>
);

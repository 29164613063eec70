import { Anchor, Code, PasswordInput, Radio, Stack, Text, TextInput } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import type { HostKind } from './host-kinds.js';
import { ScopeFields } from './scope-fields.js';

type CredentialName = 'oauth-token-string' | 'key' | 'secret' | 'name';

type CredentialForm = Omit<ComponentProps<typeof ScopeFields>['form'], 'values' | 'enter'> & {
  readonly values: { readonly isApplication: boolean; readonly 'organization-scoped': boolean };
  readonly enter: (fields: { readonly isApplication?: boolean; readonly 'organization-scoped'?: boolean }) => void;
  readonly text: (name: CredentialName) => Pick<ComponentProps<typeof TextInput>, 'value' | 'onChange' | 'error'>;
};

type CredentialFieldsProps = {
  readonly organization: string;
  readonly kind: HostKind;
  /** The address of the pages of the host. */
  readonly address: string;
  readonly form: CredentialForm;
};

type HostPage = Pick<CredentialFieldsProps, 'address'> & { readonly path: string; readonly children: string };

const HostPageLink = ({ address, path, children }: HostPage) =>
  /^https?:\/\//.test(address) ? (
    <Anchor size="sm" href={`${address}${path}`} target="_blank" rel="noreferrer">
      {children}
    </Anchor>
  ) : (
    children
  );

const Steps = ({ children }: { readonly children: ReactNode }) => (
  <Text size="sm" component="div">
    <ol style={{ margin: 0, paddingInlineStart: '1.25rem' }}>{children}</ol>
  </Text>
);

/** Moves the focus to the first field of a new step. */
const focusFirst = (field: HTMLInputElement | null): void => field?.focus();

/** Leads to the page of the host on which a person creates a token. */
const TokenFields = ({ kind, address, form }: CredentialFieldsProps) => (
  <>
    <Steps>
      <li>Sign in to {kind.label} with an account that reaches only the repositories with configurations.</li>
      <li>
        Open its{' '}
        <HostPageLink address={address} path={kind.tokenPage}>
          page of access tokens
        </HostPageLink>
        .
      </li>
      <li>Create a token. It needs these permissions: {kind.permissions}</li>
      <li>Paste the token below.</li>
    </Steps>
    <PasswordInput
      label="Access token"
      description="The server stores it encrypted, and nobody can read it again."
      required
      ref={focusFirst}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
      {...form.text('oauth-token-string')}
      autoComplete="new-password"
    />
  </>
);

/** Returns the address to which the host sends browsers back; null if the address of the host is no address. */
const toCallbackUrl = (address: string): string | null => {
  const host = URL.parse(address)?.host;
  return host ? `${window.location.origin}/auth/vcs/callback/${host}` : null;
};

/** Leads to the page of the host on which a person registers an OAuth application. */
const ApplicationFields = ({ kind, address, form }: CredentialFieldsProps) => (
  <>
    <Steps>
      <li>
        Open the{' '}
        <HostPageLink address={address} path={kind.applicationPage}>
          page of applications
        </HostPageLink>{' '}
        of {kind.label}.
      </li>
      <li>
        Register a confidential application with this callback URL: <Code>{toCallbackUrl(address)}</Code>
      </li>
      <li>Paste its client id and its secret below.</li>
      <li>Continue on {kind.label} with the account that Cadastre is to use.</li>
    </Steps>
    <TextInput label="Client id" required ref={focusFirst} spellCheck={false} {...form.text('key')} />
    <PasswordInput
      label="Client secret"
      description="The server stores it encrypted, and nobody can read it again."
      required
      visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
      {...form.text('secret')}
      autoComplete="new-password"
    />
  </>
);

/** What opens the host: an access token, or an OAuth application that gets one in the browser. */
export const CredentialFields = (props: CredentialFieldsProps) => {
  const { organization, form } = props;
  const { isApplication } = form.values;
  return (
    <>
      <Radio.Group
        label="Connect with"
        value={String(isApplication)}
        onChange={(value) => form.enter({ isApplication: value === 'true' })}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="false" label="A token of an account" />
          <Radio value="true" label="An OAuth application" />
        </Stack>
      </Radio.Group>
      {isApplication ? <ApplicationFields {...props} /> : <TokenFields {...props} />}
      <TextInput label="Name" description="Empty: the address of the host." {...form.text('name')} />
      <ScopeFields organization={organization} form={form} />
    </>
  );
};

import { Anchor, PasswordInput, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCreateConnection } from '../../api/connections.js';
import { useForm } from '../../components/form.js';
import { Dialog } from '../../components/dialog.js';
import { DialogForm } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { reportAndClose } from '../../toasts.js';
import { HOST_KINDS, trimAddress, type HostKindName } from './host-kinds.js';
import { ScopeFields } from './scope-fields.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

const KINDS = Object.entries(HOST_KINDS).map(([value, { label }]) => ({ value: value as HostKindName, label }));

const NEW_CONNECTION = {
  'service-provider': 'github' as HostKindName,
  'http-url': '',
  /** Null: the one of the address. */
  'api-url': null as string | null,
  name: '',
  'oauth-token-string': '',
  'organization-scoped': true,
  projects: [] as readonly string[],
};

type Form = ReturnType<typeof useForm<typeof NEW_CONNECTION>>;

const getKind = ({ values }: Form) => HOST_KINDS[values['service-provider']];

const getAddress = (form: Form): string => trimAddress(getKind(form).url ?? form.values['http-url']);

const getApiAddress = (form: Form): string => {
  const address = getAddress(form);
  return form.values['api-url'] ?? (address === '' ? '' : getKind(form).toApiUrl(address));
};

/** The kind of the host and its addresses. */
const HostFields = ({ form }: { readonly form: Form }) => (
  <>
    <Select
      label="Kind of Git host"
      allowDeselect={false}
      data={KINDS}
      value={form.values['service-provider']}
      error={findFieldProblem(form.error, 'service-provider')}
      onChange={(kind) => kind && form.enter({ 'service-provider': kind, 'api-url': null })}
    />
    {getKind(form).url === null && (
      <TextInput
        label="Address"
        description="The address of its pages in your browser."
        required
        data-autofocus
        inputMode="url"
        spellCheck={false}
        placeholder="https://git.example.com"
        {...form.text('http-url')}
      />
    )}
    <TextInput
      label="Address of the API"
      description="Change it only if the host has its API elsewhere."
      required
      inputMode="url"
      spellCheck={false}
      value={getApiAddress(form)}
      onChange={(event) => form.enter({ 'api-url': event.currentTarget.value })}
      error={findFieldProblem(form.error, 'api-url')}
    />
  </>
);

/** Moves the focus to the first field of a new step. */
const focusFirst = (field: HTMLInputElement | null): void => field?.focus();

/** Leads to the page of the host on which a person creates a token. */
const TokenGuide = ({ form }: { readonly form: Form }) => {
  const { label, tokenPage, permissions } = getKind(form);
  const address = getAddress(form);
  return (
    <Text size="sm" component="div">
      <ol style={{ margin: 0, paddingInlineStart: '1.25rem' }}>
        <li>Sign in to {label} with an account that reaches only the repositories with configurations.</li>
        <li>
          Open its{' '}
          {/^https?:\/\//.test(address) ? (
            <Anchor size="sm" href={`${address}${tokenPage}`} target="_blank" rel="noreferrer">
              page of access tokens
            </Anchor>
          ) : (
            'page of access tokens'
          )}
          .
        </li>
        <li>Create a token. It needs these permissions: {permissions}</li>
        <li>Paste the token below.</li>
      </ol>
    </Text>
  );
};

const TokenFields = ({ organization, form }: { readonly organization: string; readonly form: Form }) => (
  <>
    <TokenGuide form={form} />
    <PasswordInput
      label="Access token"
      description="The server stores it encrypted, and nobody can read it again."
      required
      ref={focusFirst}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
      {...form.text('oauth-token-string')}
      autoComplete="new-password"
    />
    <TextInput label="Name" description="Empty: the address of the host." {...form.text('name')} />
    <ScopeFields organization={organization} form={form} />
  </>
);

const HOST_ATTRIBUTES = ['service-provider', 'http-url', 'api-url'];

/** Connects a Git host in two steps: which host it is, and the token that opens it. */
export const ConnectDialog = ({ organization, onClose }: DialogProps) => {
  const [isHostKnown, setHostKnown] = useState(false);
  const creation = useCreateConnection(organization);
  const form = useForm(NEW_CONNECTION, creation);
  const { label } = getKind(form);
  const addresses = { 'http-url': getAddress(form), 'api-url': trimAddress(getApiAddress(form)) };
  const connect = (): void => {
    const { name, 'organization-scoped': isForAll, projects } = form.trimmed;
    const input = { ...form.trimmed, ...addresses, name: name || null, projects: isForAll ? [] : projects };
    // The first step shows what is wrong with the host.
    const onError = (error: Error): void =>
      setHostKnown(HOST_ATTRIBUTES.every((field) => findFieldProblem(error, field) === null));
    creation.mutate(input, { ...reportAndClose(`${label} is connected.`, onClose), onError });
  };
  return (
    <Dialog size="lg" title={isHostKnown ? `Connect ${label}` : 'Connect a Git host'} onClose={onClose}>
      {isHostKnown ? (
        <DialogForm
          action="Connect"
          cancel="Back"
          form={form}
          onSubmit={connect}
          onClose={() => setHostKnown(false)}
          key="token"
        >
          <TokenFields organization={organization} form={form} />
        </DialogForm>
      ) : (
        <DialogForm
          action="Next"
          isDisabled={Object.values(addresses).includes('')}
          form={form}
          onSubmit={() => setHostKnown(true)}
          onClose={onClose}
          key="host"
        >
          <HostFields form={form} />
        </DialogForm>
      )}
    </Dialog>
  );
};

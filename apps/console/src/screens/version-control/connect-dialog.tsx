import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { authorizeConnection, useCreateConnection } from '../../api/connections.js';
import { useForm } from '../../components/form.js';
import { Dialog } from '../../components/dialog.js';
import { DialogForm } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { reportAndClose } from '../../toasts.js';
import { CredentialFields } from './credential-fields.js';
import { HOST_KINDS, trimAddress, type HostKindName } from './host-kinds.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

const KINDS = Object.entries(HOST_KINDS).map(([value, { label }]) => ({ value: value as HostKindName, label }));

const NEW_CONNECTION = {
  'service-provider': 'github' as HostKindName,
  'http-url': '',
  /** Null: the one of the address. */
  'api-url': null as string | null,
  name: '',
  /** Whether the connection gets its token in the browser, by an OAuth application. */
  isApplication: false,
  'oauth-token-string': '',
  key: '',
  secret: '',
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

const HOST_ATTRIBUTES = ['service-provider', 'http-url', 'api-url'];

/** Connects a Git host in two steps: which host it is, and the token that opens it. */
export const ConnectDialog = ({ organization, onClose }: DialogProps) => {
  const [isHostKnown, setHostKnown] = useState(false);
  const creation = useCreateConnection(organization);
  const form = useForm(NEW_CONNECTION, creation);
  const { label } = getKind(form);
  const addresses = { 'http-url': getAddress(form), 'api-url': trimAddress(getApiAddress(form)) };
  const connect = (): void => {
    const { name, isApplication, key, secret, 'oauth-token-string': token, projects, ...host } = form.trimmed;
    const isForAll = host['organization-scoped'];
    const credentials = isApplication ? { key, secret } : { 'oauth-token-string': token };
    const input = { ...host, ...addresses, ...credentials, name: name || null, projects: isForAll ? [] : projects };
    // The first step shows what is wrong with the host.
    const onError = (error: Error): void =>
      setHostKnown(HOST_ATTRIBUTES.every((field) => findFieldProblem(error, field) === null));
    const { onSuccess } = reportAndClose(`${label} is connected.`, onClose);
    creation.mutate(input, { onSuccess: isApplication ? authorizeConnection : onSuccess, onError });
  };
  return (
    <Dialog size="lg" title={isHostKnown ? `Connect ${label}` : 'Connect a Git host'} onClose={onClose}>
      {isHostKnown ? (
        <DialogForm
          action={form.values.isApplication ? `Continue on ${label}` : 'Connect'}
          cancel="Back"
          form={form}
          onSubmit={connect}
          onClose={() => setHostKnown(false)}
          key="token"
        >
          <CredentialFields organization={organization} kind={getKind(form)} address={getAddress(form)} form={form} />
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

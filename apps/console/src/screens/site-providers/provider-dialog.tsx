import { Checkbox, Fieldset, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core';
import { useChangeProvider, useCreateProvider, type IdentityProvider } from '../../api/identity-providers.js';
import { listChanges, pickChanged, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';
import { toAttributes, toFields, type ProviderFields } from './provider-form.js';

type ProviderForm = ReturnType<typeof useForm<ProviderFields>>;
type PartProps = { readonly form: ProviderForm; readonly hasSecret: boolean };

const ClientFields = ({ form, hasSecret }: PartProps) => (
  <>
    <TextInput
      label="Name"
      description="The button on the sign-in page shows it."
      required
      data-autofocus
      {...form.text('name')}
    />
    <TextInput label="Issuer" placeholder="https://id.example.com" required {...form.text('issuer')} />
    <TextInput label="Client ID" required {...form.text('client-id')} />
    <PasswordInput
      label="Client secret"
      description={hasSecret ? 'An empty field keeps the present secret. No screen shows it.' : 'Empty: none.'}
      {...form.text('client-secret')}
      autoComplete="new-password"
    />
    <Checkbox label="Enabled: people can sign in with it" {...form.checkbox('enabled')} />
    <Checkbox label="The first sign-in of a person creates an account" {...form.checkbox('creates-users')} />
    <Checkbox label="The provider requires a second factor of everybody" {...form.checkbox('proves-two-factor')} />
  </>
);

const LINES = 'One a line.';

const AccessFields = ({ form }: Pick<PartProps, 'form'>) => (
  <Fieldset legend="Who may sign in, and teams">
    <Stack gap="sm">
      <Textarea
        label="Allowed domains"
        description={`${LINES} Empty: all.`}
        rows={2}
        {...form.text('allowed-domains')}
      />
      <Textarea label="Allowed groups" description={`${LINES} Empty: all.`} rows={2} {...form.text('allowed-groups')} />
      <Checkbox label="Groups map to teams with the same SSO team ID" {...form.checkbox('maps-groups')} />
      <Textarea
        label="Mapped groups"
        description={`${LINES} Names, or starts of names followed by *. Empty: all, except for owners teams.`}
        rows={2}
        {...form.text('mapped-groups')}
      />
    </Stack>
  </Fieldset>
);

const ClaimFields = ({ form }: Pick<PartProps, 'form'>) => (
  <Fieldset legend="Scopes and claims">
    <Stack gap="sm">
      <Textarea label="Scopes" description={LINES} rows={3} {...form.text('scopes')} />
      <TextInput label="Claim with the groups" {...form.text('groups-claim')} />
      <TextInput label="Claim with the user name" {...form.text('username-claim')} />
      <TextInput
        label="Claim with the external ID of SCIM"
        description="Empty: none."
        {...form.text('external-id-claim')}
      />
    </Stack>
  </Fieldset>
);

type ProviderDialogProps = { readonly provider: IdentityProvider | null; readonly onClose: () => void };

/** Creates an identity provider, or changes one. */
export const ProviderDialog = ({ provider, onClose }: ProviderDialogProps) => {
  const creation = useCreateProvider();
  const change = useChangeProvider();
  const present = toFields(provider);
  const form = useForm(present, provider === null ? creation : change);
  const { name } = form.trimmed;
  const save = () => {
    const entered = toAttributes(form.trimmed);
    const done = (what: string) => reportAndClose(`${name} is ${what}.`, onClose);
    if (provider === null) return creation.mutate(entered, done('added'));
    // Somebody else may have changed the other attributes since the dialog was opened.
    const attributes = pickChanged(entered, listChanges(present, form.trimmed));
    return change.mutate({ id: provider.id, attributes }, done('changed'));
  };
  return (
    <FormDialog
      title={provider === null ? 'New identity provider' : `Edit ${provider.attributes.name}`}
      action={provider === null ? 'Add' : 'Save'}
      size="lg"
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <ClientFields form={form} hasSecret={provider?.attributes['has-client-secret'] ?? false} />
      <AccessFields form={form} />
      <ClaimFields form={form} />
    </FormDialog>
  );
};

import { Checkbox, Fieldset, PasswordInput, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { useChangeProvider, useCreateProvider, type IdentityProvider } from '../../api/identity-providers.js';
import { listChanges, pickChanged, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';
import { toAttributes, toFields, type ProviderFields } from './provider-form.js';

type ProviderForm = ReturnType<typeof useForm<ProviderFields>>;
type PartProps = { readonly form: ProviderForm; readonly hasSecret: boolean };

/** Chooses the protocol of a new provider, with the usual names of its attributes. */
const ProtocolChoice = ({ form }: Pick<PartProps, 'form'>) => (
  <SegmentedControl
    fullWidth
    transitionDuration={0}
    aria-label="Protocol"
    data={[
      { value: 'oidc', label: 'OpenID Connect' },
      { value: 'saml', label: 'SAML 2.0' },
    ]}
    value={form.values.protocol}
    onChange={(value) =>
      form.enter(
        value === 'saml'
          ? { protocol: 'saml', 'groups-claim': 'MemberOf', 'username-claim': 'Username' }
          : { protocol: 'oidc', 'groups-claim': 'groups', 'username-claim': 'preferred_username' },
      )
    }
  />
);

const SamlFields = ({ form }: Pick<PartProps, 'form'>) => (
  <>
    <TextInput
      label="Address of the metadata"
      description="The server reads it once, now. Leave the other fields empty then."
      placeholder="https://id.example.com/saml/metadata"
      {...form.text('metadata-url')}
    />
    <Textarea label="Or the metadata" description="The XML file of the provider." rows={2} {...form.text('metadata')} />
    <TextInput label="Issuer" description="The entity ID of the provider." {...form.text('issuer')} />
    <TextInput label="Sign-in URL" {...form.text('sign-in-url')} />
    <TextInput label="Sign-out URL" {...form.text('sign-out-url')} />
    <Textarea label="Certificates" description="With which it signs, as PEM." rows={3} {...form.text('certificates')} />
    <TextInput
      label="Entity ID of this server"
      description="Empty for a new provider: the address of its metadata."
      {...form.text('client-id')}
    />
    <Checkbox label="The provider has verified all e-mail addresses" {...form.checkbox('proves-emails')} />
  </>
);

const OidcFields = ({ form, hasSecret }: PartProps) => (
  <>
    <TextInput label="Issuer" placeholder="https://id.example.com" required {...form.text('issuer')} />
    <TextInput label="Client ID" required {...form.text('client-id')} />
    <PasswordInput
      label="Client secret"
      description={hasSecret ? 'An empty field keeps the present secret. No screen shows it.' : 'Empty: none.'}
      {...form.text('client-secret')}
      autoComplete="new-password"
    />
  </>
);

const ClientFields = ({ form, hasSecret }: PartProps) => (
  <>
    <TextInput
      label="Name"
      description="The button on the sign-in page shows it."
      required
      data-autofocus
      {...form.text('name')}
    />
    {form.values.protocol === 'saml' ? <SamlFields form={form} /> : <OidcFields form={form} hasSecret={hasSecret} />}
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
  <Fieldset legend={form.values.protocol === 'saml' ? 'Attributes' : 'Scopes and claims'}>
    <Stack gap="sm">
      {form.values.protocol === 'oidc' && (
        <Textarea label="Scopes" description={LINES} rows={3} {...form.text('scopes')} />
      )}
      <TextInput label="Claim or attribute with the groups" {...form.text('groups-claim')} />
      <TextInput label="Claim or attribute with the user name" {...form.text('username-claim')} />
      <TextInput
        label="Claim or attribute with the external ID of SCIM"
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
    const entered = toAttributes(form.trimmed, provider === null);
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
      {provider === null && <ProtocolChoice form={form} />}
      <ClientFields form={form} hasSecret={provider?.attributes['has-client-secret'] ?? false} />
      <AccessFields form={form} />
      <ClaimFields form={form} />
    </FormDialog>
  );
};

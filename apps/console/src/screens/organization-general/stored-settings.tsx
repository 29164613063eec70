import { Switch, Text, TextInput } from '@mantine/core';
import { useUpdateOrganization, type Organization, type OrganizationInput } from '../../api/organizations.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { NO_ORGANIZATION_CHANGE } from './reasons.js';

const SWITCHES = {
  'cost-estimation-enabled': 'Cost estimation',
  'global-module-sharing': 'Modules are shared with all organizations',
  'registry-monorepo-support-enabled': 'Several modules in one repository',
} as const;
const MINUTES = {
  'session-timeout': 'Minutes after which an idle session ends',
} as const;

type SwitchName = keyof typeof SWITCHES;
type MinutesName = keyof typeof MINUTES;
type StoredValues = Readonly<Record<SwitchName, boolean> & Record<MinutesName, string>> & {
  readonly 'owners-team-saml-role-id': string;
};

const listNames = <K extends string>(names: Readonly<Record<K, string>>) =>
  Object.entries(names) as unknown as readonly (readonly [K, string])[];

const toValues = ({ attributes }: Organization): StoredValues => ({
  ...(Object.fromEntries(listNames(SWITCHES).map(([name]) => [name, attributes[name] ?? false])) as Record<
    SwitchName,
    boolean
  >),
  'session-timeout': attributes['session-timeout']?.toString() ?? '',
  'owners-team-saml-role-id': attributes['owners-team-saml-role-id'] ?? '',
});

const toAttributes = (changes: Partial<StoredValues>): OrganizationInput =>
  Object.fromEntries(
    Object.entries(changes).map(([name, value]): readonly [string, boolean | number | string | null] => {
      if (typeof value === 'boolean') return [name, value];
      if (value === '') return [name, null];
      return [name, name in MINUTES ? Number(value) : value];
    }),
  );

/** Settings of HCP Terraform for features that Cadastre does not have. Clients can set and read them. */
export const StoredSettings = ({ organization }: { readonly organization: Organization }) => {
  const update = useUpdateOrganization(organization.id);
  const { error, isPending } = update;
  const form = useSettings(toValues(organization), {
    error,
    isPending,
    mutate: (changes, callbacks) => update.mutate(toAttributes(changes), callbacks),
  });
  return (
    <SettingsCard
      title="Stored for clients"
      form={form}
      canChange={organization.attributes.permissions['can-update']}
      reason={NO_ORGANIZATION_CHANGE}
    >
      <Text size="sm" c="dimmed">
        Cadastre stores these settings for clients of HCP Terraform. They change nothing on this server.
      </Text>
      {listNames(SWITCHES).map(([name, label]) => (
        <Switch key={name} label={label} {...form.checkbox(name)} />
      ))}
      {listNames(MINUTES).map(([name, label]) => (
        <TextInput key={name} label={label} type="number" min={1} placeholder="No limit" {...form.text(name)} />
      ))}
      <TextInput label="SAML role of the owners" {...form.text('owners-team-saml-role-id')} />
    </SettingsCard>
  );
};

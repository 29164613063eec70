import { Button, Select, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useUpdateOrganization, type Organization, type OrganizationInput } from '../../api/organizations.js';
import { AgentPoolSelect } from '../../components/agent-pool-select.js';
import { Card, FactList } from '../../components/card.js';
import { CopyableId } from '../../components/copy.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import { StoredSettings } from './stored-settings.js';
import { CommitSettings } from './commit-settings.js';
import { NO_ORGANIZATION_CHANGE } from './reasons.js';

const RenameDialog = lazyComponent(() => import('./organization-dialogs.js'), 'RenameDialog');
const DeleteOrganizationDialog = lazyComponent(() => import('./organization-dialogs.js'), 'DeleteOrganizationDialog');

type CardProps = { readonly organization: Organization };

const Identity = ({ organization: { id, attributes, relationships } }: CardProps) => {
  const [isRenaming, dialog] = useDisclosure(false);
  const project = relationships['default-project'].data;
  const isOwner = attributes.permissions['can-update'];
  return (
    <Card title="Organization">
      <FactList
        facts={[
          { label: 'Name', value: attributes.name },
          { label: 'Id', value: <CopyableId id={attributes['external-id']} /> },
          {
            label: 'Default project',
            value: project && (
              <TextLink to="/$organization/projects/$project" params={{ organization: id, project: project.id }}>
                The project of workspaces without another one
              </TextLink>
            ),
          },
          { label: 'Created', value: <Time value={attributes['created-at']} /> },
        ]}
      />
      <div>
        <PermittedButton
          variant="default"
          isPermitted={isOwner}
          reason={NO_ORGANIZATION_CHANGE}
          command="Rename the organization"
          onClick={dialog.open}
        >
          Rename
        </PermittedButton>
      </div>
      {isRenaming && <RenameDialog name={attributes.name} onClose={dialog.close} />}
    </Card>
  );
};

const Contact = ({ organization: { id, attributes } }: CardProps) => {
  const form = useSettings({ email: attributes.email }, useUpdateOrganization(id));
  return (
    <SettingsCard
      title="Contact"
      form={form}
      canChange={attributes.permissions['can-update']}
      reason={NO_ORGANIZATION_CHANGE}
    >
      <TextInput
        label="E-mail address"
        description="The address of the people who run the organization."
        type="email"
        required
        {...form.text('email')}
      />
    </SettingsCard>
  );
};

const MODES = ['remote', 'local', 'agent'] as const;

type ExecutionDefaults = {
  readonly 'default-execution-mode': (typeof MODES)[number];
  readonly 'default-agent-pool': string | null;
  readonly 'site-executors-enabled': boolean;
  readonly 'assessments-enforced': boolean;
};

/** Returns the attributes of the request. Only the mode `agent` has a pool. */
const toAttributes = (present: ExecutionDefaults, changes: Partial<ExecutionDefaults>): OrganizationInput => {
  const { 'default-agent-pool': pool, ...settings } = { ...present, ...changes };
  return { ...settings, 'default-agent-pool-id': settings['default-execution-mode'] === 'agent' ? pool : null };
};

const Execution = ({ organization: { id, attributes, relationships } }: CardProps) => {
  const update = useUpdateOrganization(id);
  const present: ExecutionDefaults = {
    'default-execution-mode': attributes['default-execution-mode'],
    'default-agent-pool': relationships['default-agent-pool'].data?.id ?? null,
    'site-executors-enabled': attributes['site-executors-enabled'],
    'assessments-enforced': attributes['assessments-enforced'] ?? false,
  };
  const { error, isPending } = update;
  const form = useSettings(present, {
    error,
    isPending,
    mutate: (changes, callbacks) => update.mutate(toAttributes(present, changes), callbacks),
  });
  const mode = form.choice('default-execution-mode');
  return (
    <SettingsCard
      title="Execution of runs"
      form={form}
      canChange={attributes.permissions['can-update']}
      reason={NO_ORGANIZATION_CHANGE}
    >
      <Select
        label="Default execution mode"
        description="For projects and workspaces without a mode of their own, from their next run."
        allowDeselect={false}
        data={[...MODES]}
        {...mode}
        onChange={(chosen) => chosen && mode.onChange(chosen)}
      />
      {mode.value === 'agent' && (
        <AgentPoolSelect organization={id} label="Default agent pool" {...form.choice('default-agent-pool')} />
      )}
      <Switch
        label="Executors of the site execute remote runs"
        description="While no agent pool of the organization executes them. Without both, terraform plans and applies where people start it."
        {...form.checkbox('site-executors-enabled')}
      />
      {attributes['assessments-enforced'] !== undefined && (
        <Switch
          label="Health assessments of all workspaces"
          description="Once a day, executors find resources that have drifted and checks that fail. Otherwise, workspaces decide."
          {...form.checkbox('assessments-enforced')}
        />
      )}
    </SettingsCard>
  );
};

const POLICIES = [
  { value: 'password', label: 'With any method' },
  { value: 'two_factor_mandatory', label: 'With a second factor' },
  { value: 'sso_mandatory', label: 'With an identity provider' },
] as const;

type AccessSettings = {
  readonly 'collaborator-auth-policy': (typeof POLICIES)[number]['value'];
  /** Minutes as a text; empty for no limit. */
  readonly 'session-remember': string;
  readonly 'user-tokens-enabled': boolean;
  readonly 'allow-force-delete-workspaces': boolean;
  readonly 'public-provider-curation-enabled': boolean;
};

const toAccessInput = ({ 'session-remember': minutes, ...changes }: Partial<AccessSettings>): OrganizationInput => ({
  ...changes,
  ...(minutes !== undefined && { 'session-remember': minutes === '' ? null : Number(minutes) }),
});

const Access = ({ organization: { id, attributes } }: CardProps) => {
  const update = useUpdateOrganization(id);
  const { error, isPending } = update;
  const form = useSettings<AccessSettings>(
    {
      'collaborator-auth-policy': attributes['collaborator-auth-policy'],
      'session-remember': attributes['session-remember']?.toString() ?? '',
      'user-tokens-enabled': attributes['user-tokens-enabled'],
      'allow-force-delete-workspaces': attributes['allow-force-delete-workspaces'],
      'public-provider-curation-enabled': attributes['public-provider-curation-enabled'],
    },
    { error, isPending, mutate: (changes, callbacks) => update.mutate(toAccessInput(changes), callbacks) },
  );
  const policy = form.choice('collaborator-auth-policy');
  return (
    <SettingsCard
      title="Access"
      form={form}
      canChange={attributes.permissions['can-update']}
      reason={NO_ORGANIZATION_CHANGE}
    >
      <Select
        label="Members must sign in"
        description="Other sessions have no access to the organization from the next request."
        allowDeselect={false}
        data={[...POLICIES]}
        {...policy}
        onChange={(chosen) => chosen && policy.onChange(chosen)}
      />
      <TextInput
        label="Minutes after which a session has no access"
        description="Since the sign-in. People then sign in again."
        type="number"
        min={1}
        placeholder="No limit"
        {...form.text('session-remember')}
      />
      <Switch
        label="Members may use their own tokens"
        description="Without it, the organization refuses tokens of people. Tokens of teams keep working."
        {...form.checkbox('user-tokens-enabled')}
      />
      <Switch
        label="Administrators of a workspace may delete it with its resources in the state"
        {...form.checkbox('allow-force-delete-workspaces')}
      />
      <Switch
        label="The registry lists providers of the public registry"
        {...form.checkbox('public-provider-curation-enabled')}
      />
    </SettingsCard>
  );
};

const Deletion = ({ organization: { attributes } }: CardProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <Card title="Delete this organization">
      <Text size="sm" c="dimmed">
        Everything in it is deleted: workspaces with their states, teams, the registry, tokens.
      </Text>
      <div>
        {attributes.permissions['can-destroy'] ? (
          <Button variant="light" color="red" onClick={dialog.open}>
            Delete the organization
          </Button>
        ) : (
          <Text size="sm">{NO_ORGANIZATION_CHANGE}</Text>
        )}
      </div>
      {isOpen && <DeleteOrganizationDialog name={attributes.name} onClose={dialog.close} />}
    </Card>
  );
};

export const GeneralCards = (props: CardProps) => (
  <>
    <Identity {...props} />
    <Contact {...props} />
    <Execution {...props} />
    <Access {...props} />
    <CommitSettings {...props} />
    <StoredSettings {...props} />
    <Deletion {...props} />
  </>
);

import { Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useUpdateProject, type Project } from '../../api/projects.js';
import { AgentPoolSelect } from '../../components/agent-pool-select.js';
import { Card, FactList } from '../../components/card.js';
import { CopyableId } from '../../components/copy.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { Time } from '../../components/times.js';
import { DeletionCard } from './deletion-card.js';

const NO_CHANGE = 'You need a team with admin access to this project, or that may manage projects, to change this.';

type CardProps = { readonly organization: string; readonly project: Project };

/** The name and the description. */
const GeneralCard = ({ organization, project: { id, attributes } }: CardProps) => {
  const change = useUpdateProject(organization, id);
  const { name, description, permissions } = attributes;
  const form = useSettings({ name, description: description ?? '' }, change);
  return (
    <SettingsCard title="Name" form={form} canChange={permissions['can-update']} reason={NO_CHANGE}>
      <TextInput
        label="Name"
        description="Links to the project stay valid after a change. Configurations that name it must change too."
        required
        {...form.text('name')}
      />
      <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.text('description')} />
    </SettingsCard>
  );
};

const INHERITED = 'organization';
const MODES = ['remote', 'local', 'agent'] as const;
type ProjectMode = (typeof MODES)[number] | typeof INHERITED;

type ProjectDefaults = {
  readonly 'default-execution-mode': ProjectMode;
  readonly 'default-agent-pool-id': string | null;
  readonly 'auto-destroy-activity-duration': string;
};

const listDefaults = ({ attributes, relationships }: Project): ProjectDefaults => {
  const isOwn = attributes['setting-overwrites']['default-execution-mode'];
  return {
    'default-execution-mode': isOwn ? attributes['default-execution-mode'] : INHERITED,
    'default-agent-pool-id': isOwn ? (relationships['default-agent-pool'].data?.id ?? null) : null,
    'auto-destroy-activity-duration': attributes['auto-destroy-activity-duration'] ?? '',
  };
};

/** Returns the attributes of the request. Mode and pool come from the same source, so one changes with the other. */
const toAttributes = (present: ProjectDefaults, changes: Partial<ProjectDefaults>) => {
  const { 'default-execution-mode': mode, 'default-agent-pool-id': pool } = { ...present, ...changes };
  const duration = changes['auto-destroy-activity-duration'];
  const hasNewExecution = ['default-execution-mode', 'default-agent-pool-id'].some((name) => name in changes);
  const execution =
    mode === INHERITED
      ? { 'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false } }
      : { 'default-execution-mode': mode, 'default-agent-pool-id': mode === 'agent' ? pool : null };
  return {
    ...(hasNewExecution ? execution : {}),
    ...(duration === undefined ? {} : { 'auto-destroy-activity-duration': duration || null }),
  };
};

/** The defaults of workspaces of the project that have no value of their own. */
const DefaultsCard = ({ organization, project }: CardProps) => {
  const update = useUpdateProject(organization, project.id);
  const present = listDefaults(project);
  const { error, isPending } = update;
  const form = useSettings(present, {
    error,
    isPending,
    mutate: (changes, callbacks) => update.mutate(toAttributes(present, changes), callbacks),
  });
  const modeField = form.choice('default-execution-mode');
  const { permissions } = project.attributes;
  return (
    <SettingsCard
      title="Defaults of its workspaces"
      form={form}
      canChange={permissions['can-update-defaults']}
      reason={NO_CHANGE}
    >
      <Text size="sm" c="dimmed">
        They apply to workspaces of the project that have no value of their own, from their next run.
      </Text>
      <Select
        label="Execution mode"
        allowDeselect={false}
        data={[{ value: INHERITED, label: 'Default of the organization' }, ...MODES]}
        {...modeField}
        onChange={(chosen) => chosen && modeField.onChange(chosen)}
      />
      {modeField.value === 'agent' && (
        <AgentPoolSelect organization={organization} label="Agent pool" {...form.choice('default-agent-pool-id')} />
      )}
      <TextInput
        label="Destroy after this time without activity"
        description="Such as 14d or 12h, counted from the last change of the state. Resources of workspaces without a value of their own are destroyed then."
        placeholder="Never"
        {...form.text('auto-destroy-activity-duration')}
      />
    </SettingsCard>
  );
};

const Facts = ({ id, attributes }: Project) => (
  <Card title="Project">
    <FactList
      facts={[
        { label: 'Id', value: <CopyableId id={id} /> },
        { label: 'Created', value: <Time value={attributes['created-at']} /> },
      ]}
    />
  </Card>
);

/** The settings that people with admin access to the project change. */
export const ProjectSettings = (card: CardProps) => (
  <Stack>
    <GeneralCard {...card} />
    <DefaultsCard {...card} />
    <Facts {...card.project} />
    <DeletionCard {...card} />
  </Stack>
);

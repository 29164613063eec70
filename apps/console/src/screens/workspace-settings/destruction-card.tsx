import { Checkbox, Select, Text, TextInput } from '@mantine/core';
import { findIncluded } from '../../api/included.js';
import { useUpdateWorkspace, type WorkspaceInput } from '../../api/workspace-settings.js';
import type { Workspace, WorkspaceDocument } from '../../api/workspaces.js';
import { formatExactTime, useNow } from '../../components/times.js';
import { isDestroyTimeOver } from '../workspace/destroy-time.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

type DestructionValues = {
  readonly source: 'inherited' | 'own';
  /** A time without zone, as the field has it; it is in the zone of the browser. */
  readonly 'auto-destroy-at': string;
  readonly 'auto-destroy-activity-duration': string;
  readonly 'allow-destroy-plan': boolean;
};

const MINUTE_MS = 60_000;

/** `2026-01-31T23:59` in the time zone of the browser. */
const toLocalTime = (time: string | null): string => {
  if (time === null) return '';
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
};

const readDestruction = ({ attributes }: Workspace): DestructionValues => {
  const inherits = attributes['inherits-project-auto-destroy'];
  return {
    source: inherits ? 'inherited' : 'own',
    'auto-destroy-at': toLocalTime(attributes['auto-destroy-fixed-at']),
    'auto-destroy-activity-duration': inherits ? '' : (attributes['auto-destroy-activity-duration'] ?? ''),
    'allow-destroy-plan': attributes['allow-destroy-plan'],
  };
};

const toInput = (changes: Partial<DestructionValues>): WorkspaceInput => {
  const { source, 'auto-destroy-at': at, 'auto-destroy-activity-duration': duration, ...others } = changes;
  if (source === 'inherited') return { ...others, 'inherits-project-auto-destroy': true };
  return {
    ...others,
    ...(source === 'own' ? { 'inherits-project-auto-destroy': false } : {}),
    ...(at === undefined ? {} : { 'auto-destroy-at': at === '' ? null : new Date(at).toISOString() }),
    ...(duration === undefined ? {} : { 'auto-destroy-activity-duration': duration || null }),
  };
};

const describeInherited = (workspace: WorkspaceDocument): string => {
  const project = findIncluded(workspace, workspace.data.relationships.project.data);
  const duration = project?.attributes['auto-destroy-activity-duration'];
  return duration ? `As the project: ${duration} without a change of the state` : 'As the project: never';
};

/** What happens with the saved settings. */
const describePlan = ({ attributes }: Workspace, now: number): string => {
  const at = attributes['auto-destroy-at'];
  const time = at === null ? '' : formatExactTime(at);
  if (attributes['auto-destroy-status'] === 'blocked')
    return `Nothing is destroyed on ${time}: destroy plans are not allowed.`;
  if (attributes['resource-count'] === 0) return 'Nothing is destroyed: the workspace has no resources.';
  if (at === null) return 'Nothing is destroyed automatically.';
  if (isDestroyTimeOver(at, now)) return `Nothing is destroyed: ${time} passed days ago. Set another time.`;
  return `On ${time} at the earliest, and at least 12 hours after a reminder, a run destroys all resources without a confirmation.`;
};

/** When the resources of the workspace are destroyed. */
export const DestructionCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const { mutate, ...state } = useUpdateWorkspace(organization, workspace.data);
  const form = useSettings(readDestruction(workspace.data), {
    ...state,
    mutate: (changes, callbacks) => mutate({ attributes: toInput(changes) }, callbacks),
  });
  const now = useNow();
  const { permissions } = workspace.data.attributes;
  return (
    <SettingsCard title="Destruction" form={form} canChange={permissions['can-update']} reason={CHANGERS}>
      <Checkbox
        label="Allow destroy plans"
        description="Without it, nobody can queue a run that destroys all resources."
        {...form.checkbox('allow-destroy-plan')}
      />
      <Text size="sm" c="dimmed">
        {describePlan(workspace.data, now)}
      </Text>
      <Select
        label="Automatic destruction"
        allowDeselect={false}
        data={[
          { value: 'inherited', label: describeInherited(workspace) },
          { value: 'own', label: 'The workspace’s own' },
        ]}
        value={form.values.source}
        onChange={(value) =>
          form.enter({
            source: value as DestructionValues['source'],
            'auto-destroy-at': '',
            'auto-destroy-activity-duration': '',
          })
        }
      />
      {form.values.source === 'own' && (
        <>
          <TextInput
            type="datetime-local"
            label="Destroy at"
            description="In your time zone. Empty: at no fixed time."
            {...form.text('auto-destroy-at')}
          />
          <TextInput
            label="Destroy after a time without a change of the state"
            description="Such as 14d or 36h. With a fixed time, the later one counts. Empty: never for this reason."
            {...form.text('auto-destroy-activity-duration')}
          />
        </>
      )}
    </SettingsCard>
  );
};

import { Checkbox, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { agentPoolQuery } from '../../api/agent-pools.js';
import {
  readInheritedExecution,
  type WorkspaceExecutionMode,
  type InheritedExecution,
} from '../../api/inherited-execution.js';
import { useUpdateWorkspace, type WorkspaceInput } from '../../api/workspace-settings.js';
import type { Workspace } from '../../api/workspaces.js';
import { AgentPoolSelect } from '../../components/agent-pool-select.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { EXECUTION_MODES } from '../../components/execution-modes.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

type ExecutionValues = {
  readonly 'execution-mode': WorkspaceExecutionMode | 'inherited';
  /** The pool of the workspace's own. */
  readonly 'agent-pool-id': string | null;
  readonly 'terraform-version': string;
  readonly 'working-directory': string;
  readonly 'auto-apply': boolean;
};

const readExecution = ({ attributes, relationships }: Workspace): ExecutionValues => {
  const own = attributes['setting-overwrites'];
  return {
    'execution-mode': own['execution-mode'] ? attributes['execution-mode'] : 'inherited',
    'agent-pool-id': own['agent-pool'] ? (relationships['agent-pool'].data?.id ?? null) : null,
    'terraform-version': attributes['terraform-version'],
    'working-directory': attributes['working-directory'] ?? '',
    'auto-apply': attributes['auto-apply'],
  };
};

/** Returns the attributes of the mode and the pool, which depend on each other. */
const toModeInput = (mode: ExecutionValues['execution-mode'], pool: string | null): WorkspaceInput => {
  if (mode === 'agent') return { 'execution-mode': mode, 'agent-pool-id': pool };
  if (mode !== 'inherited') return { 'execution-mode': mode };
  const overwrites = { 'execution-mode': false, 'agent-pool': pool !== null };
  return { 'setting-overwrites': overwrites, ...(pool === null ? {} : { 'agent-pool-id': pool }) };
};

const toInput = (present: ExecutionValues, changes: Partial<ExecutionValues>): WorkspaceInput => {
  const { 'execution-mode': mode, 'agent-pool-id': pool, ...others } = changes;
  if (mode === undefined && pool === undefined) return others;
  const after = { ...present, ...changes };
  return { ...others, ...toModeInput(after['execution-mode'], after['agent-pool-id']) };
};

const describeMode = (mode: ExecutionValues['execution-mode'], inherited: InheritedExecution | null): string => {
  if (mode !== 'inherited') {
    const { description } = EXECUTION_MODES[mode];
    return inherited
      ? `${description} This is the workspace’s own mode. From ${inherited.source}, it would inherit ${EXECUTION_MODES[inherited.mode].label}.`
      : description;
  }
  return inherited ? `${EXECUTION_MODES[inherited.mode].description} Inherited from ${inherited.source}.` : '';
};

const usePoolName = (organization: string, pool: string | null): string => {
  const { data } = useQuery({ ...agentPoolQuery(organization, pool ?? ''), enabled: pool !== null });
  return data?.attributes.name ?? 'none';
};

const useExecution = (organization: string, workspace: Workspace) => {
  const { mutate, ...state } = useUpdateWorkspace(organization, workspace);
  const present = readExecution(workspace);
  return useSettings(present, {
    ...state,
    mutate: (changes, callbacks) => mutate({ attributes: toInput(present, changes) }, callbacks),
  });
};

/** The execution mode of runs of the workspace, and the version of the tool. */
export const ExecutionCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const { attributes } = workspace.data;
  const inherited = readInheritedExecution(workspace);
  const poolName = usePoolName(organization, inherited?.pool ?? null);
  const form = useExecution(organization, workspace.data);
  const mode = form.values['execution-mode'];
  const isInherited = mode === 'inherited';
  const effective = isInherited ? inherited?.mode : mode;
  return (
    <SettingsCard title="Execution" form={form} canChange={attributes.permissions['can-update']} reason={CHANGERS}>
      <Select
        label="Execution mode"
        description={describeMode(mode, inherited)}
        allowDeselect={false}
        data={[
          {
            value: 'inherited',
            label: inherited ? `Inherited: ${EXECUTION_MODES[inherited.mode].label}` : 'Inherited',
          },
          ...Object.entries(EXECUTION_MODES).map(([value, { label }]) => ({ value, label })),
        ]}
        value={mode}
        error={form.choice('execution-mode').error}
        onChange={(value) =>
          form.enter({ 'execution-mode': value as ExecutionValues['execution-mode'], 'agent-pool-id': null })
        }
      />
      {effective === 'agent' && (
        <AgentPoolSelect
          organization={organization}
          label="Agent pool"
          description={
            isInherited ? `Without a choice, the pool is inherited: ${poolName}.` : 'Its agents execute the runs.'
          }
          {...form.choice('agent-pool-id')}
        />
      )}
      <TextInput
        label="Terraform version"
        description="A release such as 1.13.0, a constraint such as ~> 1.13.0, or latest. OpenTofu has the same field."
        required
        spellCheck={false}
        {...form.text('terraform-version')}
      />
      <TextInput
        label="Working directory"
        description="The folder in the configuration in which plans start. Empty: its top folder."
        spellCheck={false}
        {...form.text('working-directory')}
      />
      <Checkbox
        label="Apply automatically"
        description="A plan that succeeds is applied without a confirmation."
        {...form.checkbox('auto-apply')}
      />
    </SettingsCard>
  );
};

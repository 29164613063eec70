import { Alert, Checkbox, Radio, Stack, TextInput } from '@mantine/core';
import { toPoolSettings, useChangeAgentPool } from '../../api/agent-pool-changes.js';
import { ProjectsSelect, WorkspacesSelect } from '../../components/resources-select.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { explainPoolRefusal, type PoolProps } from './pool-rights.js';

const useSettingsForm = ({ organization, pool }: PoolProps) =>
  useSettings(toPoolSettings(pool), useChangeAgentPool(organization, pool.id));

type FieldProps = { readonly organization: string; readonly form: ReturnType<typeof useSettingsForm> };

const ScopeFields = ({ organization, form }: FieldProps) => {
  const scoped = 'organization-scoped';
  return (
    <>
      <Radio.Group
        label="May be used by"
        value={String(form.values[scoped])}
        onChange={(value) => form.enter({ [scoped]: value === 'true' })}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="true" label="All workspaces of the organization, except some" />
          <Radio value="false" label="These workspaces and projects only" />
        </Stack>
      </Radio.Group>
      {form.values[scoped] ? (
        <WorkspacesSelect label="Except" organization={organization} {...form.choice('excluded-workspaces')} />
      ) : (
        <>
          <ProjectsSelect
            label="Projects"
            description="All their workspaces may use the pool."
            organization={organization}
            {...form.choice('allowed-projects')}
          />
          <WorkspacesSelect label="Workspaces" organization={organization} {...form.choice('allowed-workspaces')} />
        </>
      )}
    </>
  );
};

const REMOTE = 'remote-runs-enabled';

/** The name of a pool, the workspaces that may use it, and whether it executes remote runs. */
export const PoolSettingsCard = (props: PoolProps) => {
  const form = useSettingsForm(props);
  const { isOwner } = props.rights;
  const refusal = explainPoolRefusal(props);
  const isSwitchedOn = form.values[REMOTE] && !props.pool.attributes[REMOTE];
  return (
    <SettingsCard title="Settings" form={form} canChange={refusal === null} reason={refusal ?? ''}>
      <TextInput label="Name" required maw={420} {...form.text('name')} />
      <ScopeFields organization={props.organization} form={form} />
      <Checkbox
        label="Execute the remote runs of the organization"
        description={`Its agents read and write the state of these workspaces.${isOwner ? '' : ' Only owners of the organization can change this.'}`}
        disabled={!isOwner}
        {...form.checkbox(REMOTE)}
      />
      {isSwitchedOn && (
        <Alert color="yellow" variant="light">
          The server revokes all tokens of the pool, because people who are not owners may know them. Only owners can
          then create new ones, and change the pool.
        </Alert>
      )}
    </SettingsCard>
  );
};

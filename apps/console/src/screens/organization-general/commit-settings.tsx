import { Switch } from '@mantine/core';
import { useUpdateOrganization, type Organization } from '../../api/organizations.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { NO_ORGANIZATION_CHANGE } from './reasons.js';

const AGGREGATED = 'aggregated-commit-status-enabled';
const PASSING = 'send-passing-statuses-for-untriggered-speculative-plans';

/** What Git hosts get about the plans of commits and pull requests. */
export const CommitSettings = ({ organization: { id, attributes } }: { readonly organization: Organization }) => {
  const update = useUpdateOrganization(id);
  const form = useSettings(
    {
      'commit-statuses-enabled': attributes['commit-statuses-enabled'],
      [AGGREGATED]: attributes[AGGREGATED],
      'pull-request-comments-enabled': attributes['pull-request-comments-enabled'],
      [PASSING]: attributes[PASSING],
      'speculative-plan-management-enabled': attributes['speculative-plan-management-enabled'],
    },
    update,
  );
  return (
    <SettingsCard
      title="Plans of commits"
      form={form}
      canChange={attributes.permissions['can-update']}
      reason={NO_ORGANIZATION_CHANGE}
    >
      <Switch
        label="Git hosts show the state of plans as commit statuses"
        {...form.checkbox('commit-statuses-enabled')}
      />
      <Switch
        label="A commit has one status for all workspaces"
        description="Otherwise each workspace has its own, which the Git host can require for a merge."
        {...form.checkbox(AGGREGATED)}
        onChange={({ currentTarget: { checked } }) =>
          form.enter({ [AGGREGATED]: checked, ...(checked && { [PASSING]: false }) })
        }
      />
      <Switch
        label="Workspaces without a plan have a passing status"
        description="For pull requests that change no file of the workspace, if each workspace has its own status."
        {...form.checkbox(PASSING)}
        onChange={({ currentTarget: { checked } }) =>
          form.enter({ [PASSING]: checked, ...(checked && { [AGGREGATED]: false }) })
        }
      />
      <Switch
        label="Pull requests get a comment with the planned changes"
        description="Everybody who reads the repository sees it. Addresses of resources contain the keys of for_each. The token needs the right to write comments."
        {...form.checkbox('pull-request-comments-enabled')}
      />
      <Switch
        label="A newer commit of a pull request cancels the plans of older ones"
        {...form.checkbox('speculative-plan-management-enabled')}
      />
    </SettingsCard>
  );
};

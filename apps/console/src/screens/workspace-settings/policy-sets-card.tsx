import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { usePermission } from '../../api/organizations.js';
import { workspacePolicySetsQuery, type ConsolePolicySet } from '../../api/policy-sets.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { describePolicyScope } from '../../components/policy-words.js';
import { QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import type { WorkspaceCardProps } from './setting-card.js';

const COLUMNS: readonly DataColumn<ConsolePolicySet>[] = [
  { header: 'Name', cell: ({ attributes }) => attributes.name },
  { header: 'Has', cell: ({ attributes }) => formatCount(attributes['policy-count'], 'policy', 'policies') },
  { header: 'Applies to', cell: describePolicyScope },
];

const AppliedSets = ({ organization, workspace: { data } }: WorkspaceCardProps) => (
  <QueryState query={useQuery(workspacePolicySetsQuery(organization, data.id))} what="list of policy sets">
    {(sets) =>
      sets.length === 0 ? (
        <Text size="sm" c="dimmed">
          No policy set applies to this workspace.
        </Text>
      ) : (
        <DataTable label="Policy sets" isInCard rows={sets} columns={COLUMNS} />
      )
    }
  </QueryState>
);

/** The policy sets that the plans of the workspace must pass. */
export const PolicySetsCard = (props: WorkspaceCardProps) => {
  const canRead = usePermission(props.organization, 'can-read-policies');
  return (
    <Card title="Policy sets">
      {canRead === false ? (
        <Text size="sm" c="dimmed">
          Owners, and teams that may manage or override policies, see the policy sets that apply. Each run shows its
          results.
        </Text>
      ) : (
        <>
          <Text size="sm" c="dimmed">
            Later plans must pass these{' '}
            <TextLink
              to="/$organization/settings/policy-sets"
              params={{ organization: props.organization }}
              underline="always"
            >
              policy sets
            </TextLink>
            .
          </Text>
          {canRead && <AppliedSets {...props} />}
        </>
      )}
    </Card>
  );
};

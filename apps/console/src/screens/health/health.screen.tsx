import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { assessmentResultsQuery, type AssessmentResult } from '../../api/assessment-results.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { HealthBadges } from '../../components/health-badges.js';
import { RunIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';

const NoResult = () => (
  <EmptyState icon={RunIcon} title="No workspace has been assessed yet">
    <Text>
      Health assessments find resources that have drifted from the state. Owners enable them for all workspaces in the
      settings of the organization, administrators of a workspace in its own.
    </Text>
  </EmptyState>
);

const countDrift = ({ attributes }: AssessmentResult): string => {
  const { succeeded, 'resources-drifted': drifted, 'resources-undrifted': undrifted } = attributes;
  return succeeded ? `${drifted.toLocaleString()} of ${(drifted + undrifted).toLocaleString()}` : '';
};

const listColumns = (organization: string): readonly DataColumn<AssessmentResult>[] => [
  {
    header: 'Workspace',
    isFilling: true,
    cell: ({ attributes }) => (
      <TextLink
        to="/$organization/workspaces/$workspace"
        params={{ organization, workspace: attributes['workspace-name'] }}
      >
        {attributes['workspace-name']}
      </TextLink>
    ),
  },
  { header: 'Result', cell: ({ attributes }) => <HealthBadges attributes={attributes} /> },
  {
    header: 'Drifted since',
    cell: ({ attributes: { 'drifted-since': since } }) => since !== null && <Time value={since} />,
  },
  { header: 'Resources drifted', cell: countDrift },
  { header: 'Assessed', cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

/** The newest results of the health assessments of an organization, the longest drift first. */
export const HealthScreen = () => {
  const { organization } = useParams({ from: '/$organization/runs/health' });
  const query = useInfiniteQuery(assessmentResultsQuery(organization));
  return (
    <Page title="Health" description="Which workspaces have drifted from their states, the longest drift first.">
      <PagedList query={query} what="list of results" empty={<NoResult />}>
        {(results) => <DataTable label="Results" rows={results} columns={listColumns(organization)} />}
      </PagedList>
    </Page>
  );
};

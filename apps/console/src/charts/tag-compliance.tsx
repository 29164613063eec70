import { useQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { tagComplianceQuery } from '../api/statistics.js';
import { formatCount } from '../components/counts.js';
import { LoadingLines, QueryState } from '../components/states.js';
import { TextLink } from '../components/text-link.js';
import { BarList } from './bar-list.js';
import { ChartCard, type LegendEntry } from './chart-card.js';
import { formatPercent } from './chart-texts.js';

const MAX_BARS = 12;

const LEGEND: readonly LegendEntry[] = [
  { label: 'With a value for each reserved key', color: 'applied' },
  { label: 'Without', color: 'failed' },
];

/** Returns the link to the workspaces of a project that lack a value. */
const linkToGaps = (organization: string, project: string): LinkProps => ({
  to: '/$organization/workspaces',
  params: { organization },
  search: { project, gaps: 'true' },
});

const NoReservedKey = ({ organization }: { readonly organization: string }) => (
  <>
    No tag key is reserved.{' '}
    <TextLink to="/$organization/tags/reserved" params={{ organization }} underline="always">
      Reserve a key
    </TextLink>{' '}
    that each workspace should have.
  </>
);

/** Shows how many workspaces of each project have a value for each reserved tag key. */
export const TagComplianceChart = ({ organization }: { readonly organization: string }) => {
  const query = useQuery(tagComplianceQuery(organization));
  return (
    <QueryState query={query} what="organization" loading={<LoadingLines count={5} height={20} />}>
      {({ keys, workspaces, gaps, projectCount, projects }) => {
        const bars = projects.slice(0, MAX_BARS);
        return (
          <ChartCard
            title="Complete tags by project"
            description={`${formatPercent(workspaces - gaps, workspaces)} of ${formatCount(workspaces, 'workspace')} that you may read.`}
            headers={['Project', 'Workspaces', 'Without a value', 'Complete']}
            legend={LEGEND}
            empty={
              keys === 0 ? (
                <NoReservedKey organization={organization} />
              ) : workspaces === 0 ? (
                'You may read no workspace.'
              ) : null
            }
            note={
              projectCount > bars.length &&
              `The picture leaves out ${formatCount(projectCount - bars.length, 'project')} with fewer gaps.`
            }
            rows={projects.map(({ id, name, workspaces: all, gaps: lacking }) => ({
              id,
              link: linkToGaps(organization, id),
              cells: [name, all.toLocaleString(), lacking.toLocaleString(), formatPercent(all - lacking, all)],
            }))}
          >
            <BarList
              label="Complete tags by project"
              bars={bars.map(({ id, name, workspaces: all, gaps: lacking }) => ({
                id,
                label: name,
                link: linkToGaps(organization, id),
                parts: [
                  { color: 'applied', value: all - lacking },
                  { color: 'failed', value: lacking },
                ],
                text: `${formatPercent(all - lacking, all)} of ${all.toLocaleString()}`,
              }))}
            />
          </ChartCard>
        );
      }}
    </QueryState>
  );
};

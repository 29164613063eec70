import { SimpleGrid } from '@mantine/core';
import { usePermission } from '../../api/organizations.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { WhenVisible } from '../../components/when-visible.js';
import type { CardProps } from './home-cards.js';

const RunDaysChart = lazyComponent(() => import('../../charts/run-days.js'), 'RunDaysChart');
const TagComplianceChart = lazyComponent(() => import('../../charts/tag-compliance.js'), 'TagComplianceChart');
const ResourcesChart = lazyComponent(() => import('../../charts/resource-types.js'), 'OrganizationResourcesChart');
const TrailActivityChart = lazyComponent(() => import('../../charts/trail-activity.js'), 'TrailActivityChart');

const RUNS_HEIGHT = 380;
const HEIGHT = 320;

/** Pictures of the runs, tags, resources and activity of the organization. The activity needs access to the audit trail. */
export const HomeCharts = ({ organization }: CardProps) => {
  const mayReadTrail = usePermission(organization, 'can-read-audit-trail');
  return (
    <>
      <WhenVisible height={RUNS_HEIGHT}>
        <RunDaysChart organization={organization} />
      </WhenVisible>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <WhenVisible height={HEIGHT}>
          <TagComplianceChart organization={organization} />
        </WhenVisible>
        <WhenVisible height={HEIGHT}>
          <ResourcesChart organization={organization} />
        </WhenVisible>
      </SimpleGrid>
      {mayReadTrail && (
        <WhenVisible height={HEIGHT}>
          <TrailActivityChart organization={organization} />
        </WhenVisible>
      )}
    </>
  );
};

import type { Workspace } from '../../api/workspaces.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { WhenVisible } from '../../components/when-visible.js';

const ResourcesChart = lazyComponent(() => import('../../charts/resource-types.js'), 'WorkspaceResourcesChart');
const StateSizesChart = lazyComponent(() => import('../../charts/state-sizes.js'), 'StateSizesChart');

const HEIGHT = 320;

type StateChartsProps = { readonly organization: string; readonly workspace: Workspace };

/** The resources of the current state by type, and the numbers of resources of the state versions. */
export const StateCharts = ({ organization, workspace: { id, attributes } }: StateChartsProps) => (
  <>
    <WhenVisible height={HEIGHT}>
      <ResourcesChart workspace={id} />
    </WhenVisible>
    <WhenVisible height={HEIGHT}>
      <StateSizesChart organization={organization} workspace={{ id, name: attributes.name }} />
    </WhenVisible>
  </>
);

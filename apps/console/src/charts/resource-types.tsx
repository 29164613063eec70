import { useQuery } from '@tanstack/react-query';
import { resourceStatisticsQuery, type ResourceType } from '../api/statistics.js';
import { currentStateQuery } from '../api/states.js';
import { formatCount } from '../components/counts.js';
import { LoadingLines, QueryState } from '../components/states.js';
import { BarList } from './bar-list.js';
import { ChartCard } from './chart-card.js';

const MAX_BARS = 12;

/** Returns the short name of a provider: `hashicorp/aws`. */
const formatProvider = (provider: string): string =>
  /^provider\["(?:registry\.terraform\.io\/)?(.*)"\]$/.exec(provider)?.[1] ?? provider;

/** The API shows types with hyphens, as in the documents of states. */
const formatType = (type: string): string => type.replaceAll('-', '_');

type TypesProps = {
  readonly types: readonly ResourceType[];
  readonly total: number;
  readonly typeCount: number;
  readonly description: string;
  readonly empty: string;
};

const ResourceTypes = ({ types, total, typeCount, description, empty }: TypesProps) => {
  const bars = types.slice(0, MAX_BARS);
  const left = typeCount - bars.length;
  const resources = bars.reduce((sum, { resources: count }) => sum + count, 0);
  return (
    <ChartCard
      title="Resources by type"
      description={description}
      headers={['Type', 'Provider', 'Resources']}
      empty={types.length === 0 ? empty : null}
      note={
        left > 0 &&
        `The picture leaves out ${formatCount(left, 'type')} with fewer resources: ${(total - resources).toLocaleString()} of ${formatCount(total, 'resource')}.`
      }
      rows={types.map(({ provider, type, resources: count }) => ({
        id: `${provider} ${type}`,
        cells: [formatType(type), formatProvider(provider), count.toLocaleString()],
      }))}
    >
      <BarList
        label="Resources by type"
        bars={bars.map(({ provider, type, resources: count }) => ({
          id: `${provider} ${type}`,
          label: formatType(type),
          parts: [{ color: 'applied', value: count }],
          text: `${count.toLocaleString()}, ${formatProvider(provider)}`,
        }))}
      />
    </ChartCard>
  );
};

/** Shows the types of resources in the current states of an organization. */
export const OrganizationResourcesChart = ({ organization }: { readonly organization: string }) => {
  const query = useQuery(resourceStatisticsQuery(organization));
  return (
    <QueryState query={query} what="organization" loading={<LoadingLines count={8} height={20} />}>
      {({ types, resourceCount, typeCount, stateCount }) => (
        <ResourceTypes
          types={types}
          total={resourceCount}
          typeCount={typeCount}
          description={`${formatCount(resourceCount, 'resource')} in ${formatCount(stateCount, 'current state')} that you may read.`}
          empty="No current state that you may read has a resource."
        />
      )}
    </QueryState>
  );
};

/** Shows the types of resources in the current state of a workspace. */
export const WorkspaceResourcesChart = ({ workspace }: { readonly workspace: string }) => {
  const query = useQuery(currentStateQuery(workspace));
  return (
    <QueryState query={query} what="state" loading={<LoadingLines count={6} height={20} />}>
      {({ data }) => {
        const types = Object.entries(data.attributes.providers ?? {})
          .flatMap(([provider, counts]) =>
            Object.entries(counts).map(([type, resources]) => ({ provider, type, resources })),
          )
          .toSorted((left, right) => right.resources - left.resources || left.type.localeCompare(right.type));
        const total = types.reduce((sum, { resources }) => sum + resources, 0);
        return (
          <ResourceTypes
            types={types}
            total={total}
            typeCount={types.length}
            description={`${formatCount(total, 'resource')} in the current state.`}
            empty="The state has no resources."
          />
        );
      }}
    </QueryState>
  );
};

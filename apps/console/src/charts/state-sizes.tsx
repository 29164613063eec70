import { useInfiniteQuery } from '@tanstack/react-query';
import { stateVersionsQuery } from '../api/states.js';
import { formatCount } from '../components/counts.js';
import { LoadingLines, QueryState } from '../components/states.js';
import { ChartCard } from './chart-card.js';
import { StackedBars } from './stacked-bars.js';

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

type StateSizesProps = {
  readonly organization: string;
  readonly workspace: { readonly id: string; readonly name: string };
};

type CountsByType = Readonly<Record<string, Readonly<Record<string, number>>>>;

const countResources = (providers: CountsByType | null): number =>
  Object.values(providers ?? {})
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, count) => sum + count, 0);

/** Shows how many resources each of the newest state versions has. */
export const StateSizesChart = ({ organization, workspace }: StateSizesProps) => {
  const query = useInfiniteQuery(stateVersionsQuery(workspace.id));
  return (
    <QueryState query={query} what="state" loading={<LoadingLines count={6} height={28} />}>
      {({ pages }) => {
        const [first] = pages;
        const versions = (first?.data ?? []).filter(({ attributes }) => attributes.providers !== null);
        const left = (first?.meta.pagination['total-count'] ?? 0) - (first?.data.length ?? 0);
        const rows = versions.map(({ id, attributes }, index) => ({
          id,
          serial: attributes.serial,
          time: timeFormat.format(new Date(attributes['created-at'])),
          count: countResources(attributes.providers),
          // A version is compared with the one before it.
          link: {
            to: '/$organization/workspaces/$workspace/states',
            params: { organization, workspace: workspace.name },
            search: versions[index + 1] ? { from: versions[index + 1]?.id, to: id } : {},
          } as const,
        }));
        return (
          <ChartCard
            title="Resources over state versions"
            description="Each bar leads to what its version changed."
            headers={['Serial', 'Created', 'Resources']}
            empty={rows.length === 0 ? 'No state version has been uploaded yet.' : null}
            note={left > 0 && `The picture leaves out ${formatCount(left, 'older version')}.`}
            rows={rows.map(({ id, serial, time, count, link }) => ({
              id,
              link,
              cells: [serial.toLocaleString(), time, count.toLocaleString()],
            }))}
          >
            <StackedBars
              label="Resources over state versions"
              bars={rows.toReversed().map(({ id, serial, time, count, link }) => ({
                id,
                label: `${serial}`,
                parts: [
                  {
                    color: 'applied',
                    value: count,
                    label: `Serial ${serial}, ${time}: ${formatCount(count, 'resource')}`,
                    link,
                  },
                ],
              }))}
            />
          </ChartCard>
        );
      }}
    </QueryState>
  );
};

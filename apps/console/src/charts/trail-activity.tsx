import { useQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { trailActivityQuery } from '../api/statistics.js';
import { formatCount } from '../components/counts.js';
import { LoadingLines, QueryState } from '../components/states.js';
import { ChartCard } from './chart-card.js';
import { formatDay } from './chart-texts.js';
import { HeatMap } from './heat-map.js';

const DAYS = 14;
const HOUR_MS = 3_600_000;
const hourFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Entries later than `since` and not later than `until`: the filters of the trail exclude the first millisecond. */
const toSearch = (start: string, length: number) => ({
  since: new Date(Date.parse(start) - 1).toISOString(),
  until: new Date(Date.parse(start) + length - 1).toISOString(),
});

/** Shows how many entries the audit trail has of each hour. */
export const TrailActivityChart = ({ organization }: { readonly organization: string }) => {
  const query = useQuery(trailActivityQuery(organization, DAYS));
  const linkTo = (start: string, length: number): LinkProps => ({
    to: '/$organization/audit-trail',
    params: { organization },
    search: toSearch(start, length),
  });
  return (
    <QueryState query={query} what="audit trail" loading={<LoadingLines count={8} height={20} />}>
      {(days) => {
        const total = days.flatMap(({ hours }) => hours).reduce((sum, { count }) => sum + count, 0);
        return (
          <ChartCard
            title={`Activity of the last ${DAYS} days`}
            description="Entries of the audit trail by day and hour, in your time zone. Darker or brighter cells have more."
            headers={['Day', 'Entries', 'Busiest hour']}
            empty={total === 0 ? `The audit trail has no entry of the last ${DAYS} days.` : null}
            rows={days.toReversed().map(({ date, hours }) => {
              const busiest = hours.reduce((best, hour) => (hour.count > best.count ? hour : best));
              return {
                id: date,
                link: linkTo(hours[0]?.start ?? '', hours.length * HOUR_MS),
                cells: [
                  formatDay(date),
                  hours.reduce((sum, { count }) => sum + count, 0).toLocaleString(),
                  busiest.count === 0 ? '–' : hourFormat.format(new Date(busiest.start)),
                ],
              };
            })}
          >
            <HeatMap
              label="Entries of the audit trail by day and hour"
              rows={days.map(({ date, hours }) => ({
                id: date,
                label: formatDay(date),
                cells: hours.map(({ start, count }) => ({
                  value: count,
                  label: `${formatDay(date)}, ${hourFormat.format(new Date(start))}: ${formatCount(count, 'entry', 'entries')}`,
                  link: linkTo(start, HOUR_MS),
                })),
              }))}
            />
          </ChartCard>
        );
      }}
    </QueryState>
  );
};

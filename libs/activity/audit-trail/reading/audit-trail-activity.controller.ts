import { Controller, Get, Param, Query } from '@nestjs/common';
import { ConfigureRoute, CurrentActor, loadParentOrganization, type Actor } from '#api/access';
import {
  DAY_FILTERS,
  parseCalendarDays,
  renderDocument,
  type CalendarDays,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { Clock, formatTimestamp, notFound } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import { waitForTrail } from '../wait-for-trail.queries.js';
import { countEntriesBetween } from './audit-trail-activity.queries.js';

const HOUR_MS = 3_600_000;

/** Returns the times at which each hour of the days begins, and last when the newest day ends. */
const listHours = ({ bounds }: CalendarDays): readonly number[] => {
  const end = bounds.at(-1) ?? 0;
  const starts = bounds.slice(0, -1).flatMap((start, index) => {
    const next = bounds[index + 1] ?? end;
    return Array.from({ length: Math.ceil((next - start) / HOUR_MS) }, (_, hour) => start + hour * HOUR_MS);
  });
  return [...starts, end];
};

/** Counts the entries of the audit trail of an organization by hour. */
@Controller('api/v2/organizations/:organization/audit-trail-activity')
export class AuditTrailActivityController {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  @Get()
  @ConfigureRoute({ filters: DAY_FILTERS, effect: 'reads-audit-trail' })
  async show(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const now = this.clock.now();
    const days = parseCalendarDays(query, now);
    const { database } = this.store;
    const { organization } = await loadParentOrganization(database, actor, 'read-audit-trail', name);
    await waitForTrail(this.store, organization);
    const hours = listHours(days);
    const counts = await countEntriesBetween(database, actor, { organization, now }, hours);
    if (!counts) throw notFound();
    return renderDocument({
      id: name,
      type: 'audit-trail-activity',
      attributes: {
        'time-zone': days.timeZone,
        days: days.dates.map((date, index) => ({
          date,
          hours: hours.slice(0, -1).flatMap((start, hour) => {
            const isOfDay = start >= (days.bounds[index] ?? 0) && start < (days.bounds[index + 1] ?? 0);
            return isOfDay ? [{ start: formatTimestamp(start), count: counts[hour] ?? 0 }] : [];
          }),
        })),
      },
    });
  }
}

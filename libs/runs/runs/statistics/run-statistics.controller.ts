import { Controller, Get, Param, Query } from '@nestjs/common';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import {
  DAY_FILTERS,
  parseCalendarDays,
  renderDocument,
  type CalendarDays,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { Clock, formatTimestamp } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { countOrganizationRuns, countWorkspaceRuns } from './run-statistics.queries.js';
import { toRunDays, type RunCountRow } from './run-statistics.js';

const render = (id: string, days: CalendarDays, rows: readonly RunCountRow[]): Document =>
  renderDocument({
    id,
    type: 'run-statistics',
    attributes: {
      'time-zone': days.timeZone,
      days: toRunDays(days, rows).map(({ date, start, end, counts, planMs, applyMs }) => ({
        date,
        start: formatTimestamp(start),
        end: formatTimestamp(end),
        ...counts,
        'plan-duration-average': planMs,
        'apply-duration-average': applyMs,
      })),
    },
  });

/** Counts runs by the day of their creation and by their result. */
@Controller('api/v2')
export class RunStatisticsController {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  @Get('organizations/:organization/run-statistics')
  @ConfigureRoute({ filters: DAY_FILTERS })
  async showOfOrganization(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const days = parseCalendarDays(query, this.clock.now());
    return render(organization, days, await countOrganizationRuns(this.database, actor, organization, days));
  }

  @Get('workspaces/:id/run-statistics')
  @ConfigureRoute({ filters: DAY_FILTERS })
  async showOfWorkspace(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const days = parseCalendarDays(query, this.clock.now());
    return render(id, days, await countWorkspaceRuns(this.database, actor, id, days));
  }
}

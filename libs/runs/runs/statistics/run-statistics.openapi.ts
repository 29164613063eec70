import { z } from 'zod';
import {
  calendarDayParameters,
  count,
  defineResource,
  describeController,
  exampleText,
  timestamp,
} from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { RunStatisticsController } from './run-statistics.controller.js';

const duration = (description: string) =>
  z
    .int()
    .min(0)
    .nullable()
    .meta({ description, examples: [12_500] });

export const runStatisticsSchema = defineResource({
  name: 'RunStatistics',
  type: 'run-statistics',
  description:
    'The numbers of runs that you may read, by the day of their creation and by their result. It has the id of the workspace or the name of the organization as its id. HCP Terraform does not have it.',
  exampleId: 'acme',
  attributes: {
    'time-zone': exampleText('Europe/Berlin', 'The time zone of the days.'),
    days: z
      .array(
        z.strictObject({
          date: exampleText('2026-01-31'),
          start: timestamp('When the day begins.'),
          end: timestamp('When the next day begins.'),
          applied: count('The number of runs that were applied.'),
          'planned-and-finished': count('The number of runs that ended with their plan.'),
          failed: count('The number of runs that failed, or that a policy stopped.'),
          stopped: count('The number of runs that were discarded or canceled.'),
          open: count('The number of runs that have not ended.'),
          'plan-duration-average': duration('The average time of the plans in milliseconds; null if there was none.'),
          'apply-duration-average': duration(
            'The average time of the applies in milliseconds; null if there was none.',
          ),
        }),
      )
      .meta({ description: 'All days, the oldest first. The last one is today.' }),
  },
});

const show = { query: calendarDayParameters() };

export const runStatisticsOperations = describeController(
  RunStatisticsController,
  { ...RUNS, resource: runStatisticsSchema },
  {
    showOfOrganization: {
      ...show,
      operationId: 'showOrganizationRunStatistics',
      summary: 'Count the runs of an organization by day and result',
      description: 'Counts the runs of workspaces that you may read.',
    },
    showOfWorkspace: {
      ...show,
      operationId: 'showWorkspaceRunStatistics',
      summary: 'Count the runs of a workspace by day and result',
    },
  },
);

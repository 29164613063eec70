import { z } from 'zod';
import {
  count,
  describeController,
  describeEmpty,
  describeOptionalBody,
  describePage,
  exampleText,
  pageParameters,
  parameter,
  timestamp,
} from '#api/json-api/description';
import { actionBody } from '../runs/runs.body.js';
import { RUN_STATUSES } from '../runs/run-status.js';
import { RUNS, runSchema } from '../runs/runs.openapi.js';
import { ADMIN_RUN_INCLUDES, AdminRunsController } from './admin-runs.controller.js';

const included = ['Organization', 'Workspace'];

const group = { ...RUNS, resource: runSchema };

const statusCounts = z
  .partialRecord(z.enum(RUN_STATUSES), z.int())
  .meta({ description: 'Runs by status, with all filters except for `filter[status]`.', examples: [{ applied: 12 }] });

const executorWork = z
  .strictObject({
    running: count('Runs on which an executor works.'),
    waiting: count('Runs that wait for an executor.'),
    organizations: z
      .array(
        z.strictObject({
          organization: exampleText('acme'),
          running: count(),
          waiting: count(),
          'waiting-since': timestamp(
            'Since when the run that waits longest has waited; null if none waits.',
          ).nullable(),
        }),
      )
      .meta({ description: 'At most 100 organizations, those with the most waiting runs first.' }),
  })
  .meta({ description: 'The work of executors in the whole site, without the filters of the request.' });

export const adminRunsOperations = describeController(AdminRunsController, group, {
  list: {
    operationId: 'listSiteRuns',
    summary: 'List the runs of all organizations as a site administrator',
    description: 'Newest first.',
    include: { values: ADMIN_RUN_INCLUDES, resources: included },
    query: {
      ...pageParameters(),
      q: parameter.text('Only runs with this text in their id, or in the name of their workspace or organization.'),
      'filter[status]': parameter.list('Only runs with one of these statuses.'),
      'filter[from]': parameter.text('Only runs that were created at this ISO 8601 timestamp or later.'),
      'filter[to]': parameter.text('Only runs that were created at this ISO 8601 timestamp or before.'),
    },
    answer: describePage('Run', { included, meta: { 'status-counts': statusCounts, 'executor-work': executorWork } }),
  },
  forceCancel: {
    operationId: 'forceCancelSiteRun',
    summary: 'Cancel any run at once as a site administrator',
    description:
      'The lock of the workspace is free at once. An executor that still works on the run cannot store its state in the workspace any more.',
    body: describeOptionalBody(actionBody, { comment: 'The executor does not respond.' }),
    answer: describeEmpty({ description: 'The run is canceled. The response has no body.' }),
    refusals: { conflict: 'The run has ended.' },
    events: ['RunForceCanceled', 'RunCommented', 'WorkspaceUnlocked', 'StateVersionPromoted', 'StateVersionDiscarded'],
  },
});

import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeSettings,
  exampleText,
  permissionFlags,
  relatedAlways,
  relatedEmpty,
  relatedMany,
  relatedNone,
  relatedOne,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { RUN_SOURCES } from './run-event.js';
import { RUN_OPTIONS } from './run-options.js';
import { RUN_STATUSES } from './run-status.js';
import { nameTimestamp } from './runs.document.js';

const statusTimestamps = z
  .strictObject(Object.fromEntries(RUN_STATUSES.map((status) => [nameTimestamp(status), timestamp().optional()])))
  .meta({
    description: 'When the run reached each status. Statuses that it has not reached are absent.',
    examples: [{ 'plan-queueable-at': '2026-01-31T12:30:15.123Z', 'plan-queued-at': '2026-01-31T12:30:15.123Z' }],
  });

/** Addresses are null instead of an empty list. */
const addresses = (description: string) =>
  z
    .array(z.string())
    .nullable()
    .meta({ description, examples: [null] });

const options = {
  ...describeSettings(RUN_OPTIONS.shape),
  'invoke-action-addrs': addresses('Addresses of the actions that the run invokes.'),
  'policy-paths': addresses('Folders with policies. The server evaluates none.'),
  'replace-addrs': addresses('Addresses of the resources that the run replaces.'),
  'target-addrs': addresses('Addresses of the resources to which the run is limited.'),
  'terraform-version': exampleText('1.13.0'),
  variables: z
    .array(z.strictObject({ key: exampleText('region'), value: exampleText('"eu-west-1"') }))
    .meta({ description: 'The variables of the run itself; empty if you may not read variables.', examples: [[]] }),
};

const permissions = z
  .strictObject({
    ...permissionFlags('can-apply', 'can-cancel', 'can-comment', 'can-discard', 'can-force-cancel', 'can-force-execute')
      .shape,
    'can-override-policy-check': always(false),
  })
  .meta({ description: 'What the caller may do.' });

export const runSchema = defineResource({
  name: 'Run',
  type: 'runs',
  description: 'A plan of a configuration and its apply. Executors report their progress; the server executes nothing.',
  exampleId: 'run-6mKd9TzPq3XvLcB8',
  attributes: {
    ...options,
    actions: z
      .strictObject({
        'is-cancelable': z.boolean(),
        'is-confirmable': z.boolean(),
        'is-discardable': z.boolean(),
        'is-force-cancelable': z.boolean(),
      })
      .meta({ description: 'What the status of the run allows, for callers with the permission.' }),
    'canceled-at': timestamp('When a caller asked to cancel the run.')
      .nullable()
      .meta({ examples: [null] }),
    'created-at': timestamp(),
    'force-cancel-available-at': z
      .string()
      .meta({ format: 'date-time', description: 'Absent if no caller asked to cancel the run.' })
      .optional(),
    'has-changes': z.boolean(),
    message: exampleText('Queued manually via the Terraform Enterprise API'),
    permissions,
    'position-in-queue': count('The number of runs that must end before this run starts.'),
    source: z.enum(RUN_SOURCES),
    status: z.enum(RUN_STATUSES),
    'status-timestamps': statusTimestamps,
    'trigger-reason': always('manual'),
    'waiting-reason': exampleText('Agent pool apool-5kWz2HcXn8RqTb4M does not include this workspace in its scope')
      .nullable()
      .meta({ description: 'Why no executor can take the run; null if one can.', examples: [null] }),
  },
  relationships: {
    apply: relatedAlways('applies'),
    comments: relatedMany('comments'),
    'configuration-version': relatedAlways('configuration-versions'),
    'confirmed-by': relatedOne('users'),
    'cost-estimate': relatedNone(),
    'created-by': relatedAlways('users'),
    'input-state-version': relatedNone(),
    plan: relatedAlways('plans'),
    'policy-checks': relatedEmpty('policy-checks'),
    'run-events': relatedMany('run-events'),
    'task-stages': relatedEmpty('task-stages'),
    workspace: relatedAlways('workspaces'),
    'workspace-run-alerts': relatedEmpty('workspace-run-alerts'),
  },
  links: { self: serverPath('/api/v2/runs/run-6mKd9TzPq3XvLcB8') },
});

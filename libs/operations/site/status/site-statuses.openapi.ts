import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  exampleText,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { SiteStatusesController } from './site-statuses.controller.js';

const setting = z.strictObject({ name: exampleText('CADASTRE_EDITION'), value: exampleText('all') });

const process = z.strictObject({
  name: exampleText('serve', 'The role of the process, or a command.'),
  address: exampleText('192.0.2.7').nullable().meta({
    description: 'The address from which it is connected to Postgres; null for a socket of the same machine.',
  }),
  connections: count('The number of its connections to Postgres.').meta({ examples: [6] }),
  since: timestamp('When the oldest of these connections was opened.'),
});

const follower = z.strictObject({
  name: exampleText('audit_trail'),
  running: z.boolean().meta({ description: 'Whether a process runs it.', examples: [true] }),
  behind: count('The number of events that it has not read, counted up to 100,000.').meta({ examples: [0] }),
  'idle-seconds': z
    .int()
    .nullable()
    .meta({ description: 'Seconds since it last stored its progress; null if it never did.', examples: [3] }),
});

const job = z.strictObject({
  name: exampleText('audit_trail_pruning'),
  'every-seconds': z.number().meta({ description: 'The pause between two runs in seconds.', examples: [3_600] }),
  'last-run-at': timestamp(
    'When the last run ended; null if it never ran. Of the successes of a job, one in 10 seconds is recorded.',
  ).nullable(),
  'last-result': z
    .enum(['succeeded', 'failed'])
    .nullable()
    .meta({ description: 'The result of the last run; null if it never ran.', examples: ['succeeded'] }),
  'last-success-at': timestamp('When the last run without an error ended; null if there was none.').nullable(),
  'next-run-at': timestamp(
    'When the next run is due; null if it never ran or has failed. A job that fails is tried again within 5 minutes.',
  ).nullable(),
});

const verification = z.strictObject({
  'ended-at': timestamp('When the command ended.'),
  result: z.enum(['clean', 'faulty']).meta({
    description: '`clean` if all views and snapshots match the log, and every encrypted value has its key.',
    examples: ['clean'],
  }),
  transaction: exampleText(
    '83021',
    'With `position`: the end of the log when the command began; null if it was empty.',
  ).nullable(),
  position: count('With `transaction`: the end of the log.')
    .nullable()
    .meta({ examples: [120_000] }),
});

export const siteStatusSchema = defineResource({
  name: 'SiteStatus',
  type: 'site-statuses',
  description: 'Versions, settings, processes, followers and storage of the site. It contains no secret.',
  exampleId: 'site',
  attributes: {
    version: exampleText('0.2.0', 'The version of the gateway that answers.'),
    'postgres-version': exampleText('18.4'),
    'database-bytes': count('The size of the database in bytes.').meta({ examples: [84_934_656] }),
    'event-count': count('The number of events in the log, as Postgres estimates it.').meta({ examples: [120_000] }),
    settings: z.array(setting),
    processes: z.array(process),
    followers: z.array(follower),
    'scheduled-jobs': z.array(job),
    'last-verification': verification
      .nullable()
      .meta({ description: 'The last run of `cadastre verify`; null if it never ran.' }),
  },
  links: { self: serverPath('/api/v2/admin/site-status') },
});

const SITE = { name: 'Site', description: 'The site as a whole, for its administrators.', resource: siteStatusSchema };

export const siteStatusesOperations = describeController(SiteStatusesController, SITE, {
  show: { summary: 'Show versions, settings, processes, followers and storage of the site' },
});

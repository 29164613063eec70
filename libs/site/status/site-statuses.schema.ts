import { z } from 'zod';
import { count, defineResource, exampleText, serverPath, timestamp } from '#json-api/description';

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
  },
  links: { self: serverPath('/api/v2/admin/site-status') },
});

import { z } from 'zod';
import {
  count,
  describeAlternatives,
  describeController,
  describeFile,
  describeJson,
  exampleText,
  pageParameters,
  parameter,
  timestamp,
} from '#api/json-api/description';
import { AuditTrailController } from './audit-trail.controller.js';
import { OrganizationAuditTrailController } from './organization-audit-trail.controller.js';
import { SiteAuditTrailController } from './site-audit-trail.controller.js';
import { TRAIL_FORMATS } from './trail.answers.js';
import { MAX_SIZE } from './trail-query.filter.js';

export const AUDIT_TRAIL = { name: 'Audit trail', description: 'Who did what in an organization, and at the site.' };

const entry = z
  .strictObject({
    id: exampleText('0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f', 'The id of the event.'),
    version: z.literal('0'),
    type: z.literal('Resource'),
    timestamp: timestamp('When the audit trail recorded the entry.'),
    auth: z.strictObject({
      accessor_id: exampleText('user-8Xc3kYb2TqLw9RfZ'),
      description: exampleText('ada', 'The name of the account or token.'),
      type: z.enum(['Client', 'Impersonated', 'System']),
      impersonator_id: z.string().nullable(),
      organization_id: exampleText('org-9Vx4kQbZ2TnYw7Lc', '`site` in the audit trail of the site.'),
    }),
    request: z.strictObject({
      id: exampleText('0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f').nullable(),
      address: exampleText('192.0.2.7', 'Only if the operator shows details of clients.').nullable().optional(),
      user_agent: exampleText('Terraform/1.13.0', 'Only if the operator shows details of clients.')
        .nullable()
        .optional(),
    }),
    resource: z.strictObject({
      id: exampleText('ws-7hQ2vXbN4kTgYw3D'),
      type: exampleText('workspace'),
      action: exampleText('lock'),
      meta: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({
          description: 'Details that depend on type and action.',
          examples: [{ reason: 'Upgrading the provider' }],
        }),
    }),
  })
  .meta({ id: 'AuditTrailEntry', description: 'An entry of the audit trail.' });

const pagination = z.strictObject({
  current_page: z.int().min(1),
  prev_page: z
    .int()
    .nullable()
    .meta({ examples: [null] }),
  next_page: z
    .int()
    .nullable()
    .meta({ examples: [null] }),
  total_pages: z
    .int()
    .min(0)
    .meta({ examples: [1] }),
  total_count: count('The number of entries on all pages, or on this page after a cursor.').meta({ examples: [1] }),
  page_size: z
    .int()
    .min(1)
    .meta({ examples: [MAX_SIZE] }),
  next_after: exampleText('0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f')
    .nullable()
    .optional()
    .meta({ description: 'The `after` of the next request; null if there are no entries. Only after a cursor.' }),
  more: z.boolean().optional().meta({ description: 'Whether there are entries after these. Only after a cursor.' }),
});

const page = z
  .strictObject({ data: z.array(entry), pagination })
  .meta({ id: 'AuditTrailPage', description: 'A page of the audit trail.' });

const timestampParameter = (description: string) => z.string().optional().meta({ description, format: 'date-time' });

const { 'page[number]': number, 'page[size]': size } = pageParameters(MAX_SIZE, MAX_SIZE);

const NAMES = 'such as `workspace` or `team_project`';

const parameters = {
  'page[number]': number,
  page: number.meta({ description: 'The same as `page[number]`.' }),
  'page[size]': size,
  since: timestampParameter('Only entries later than this ISO 8601 timestamp.'),
  until: timestampParameter('Only entries not later than this ISO 8601 timestamp.'),
  after: z.string().max(36).optional().meta({
    description: 'Only entries after the entry with this id. An empty value starts with the oldest entry.',
  }),
  'filter[resource-type]': parameter.list(`Only entries of these types of resources, ${NAMES}.`, {
    mostCharacters: 100,
  }),
  'filter[action]': parameter.list('Only entries with these actions, such as `lock`.', { mostCharacters: 100 }),
  'filter[actor]': parameter.list('Only entries of these accounts or tokens, by id or name.', {
    mostCharacters: 500,
  }),
  'filter[resource-id]': parameter.list('Only entries of resources with these ids.', { mostCharacters: 500 }),
};

const proofs = z.enum(['true', 'false']).optional().meta({
  description:
    'With `true`, the answer in `ndjson` proves each entry of an organization. The first line has a signed `checkpoint`. Each other line has `index`, `entry`, `salt`, `commitments`, `salts` and `proof`. Entries that no checkpoint contains yet are left out.',
});

const entries = describeAlternatives(
  [describeJson(page, { mediaType: 'application/json' }), describeFile('application/x-ndjson')],
  { description: 'A page as JSON, or lines with one `AuditTrailEntry` each.' },
);

const entriesInAnyFormat = describeAlternatives(
  [
    describeJson(page, { mediaType: 'application/json' }),
    describeFile('application/x-ndjson'),
    describeFile('text/plain'),
    describeFile('application/vnd.apache.parquet'),
  ],
  { description: 'A page as JSON, lines with one `AuditTrailEntry` each, or all entries in the format of `format`.' },
);

const ORDER =
  'Pages have the newest entries first. With `after`, entries follow in the order in which they were recorded. With the media type `application/x-ndjson` and without page parameters, the answer has all entries in that order.';

const INVALID_PAGE = 'A page parameter is not valid, or `after` is sent with a page number, or `format` has no pages.';

const INVALID =
  'A timestamp, a filter or `after` is not valid, or entries after that one were deleted (`meta.gone` is true).';

export const auditTrailOperations = describeController(AuditTrailController, AUDIT_TRAIL, {
  list: {
    operationId: 'listAuditTrail',
    summary: 'Read the audit trail of the organization of the token',
    description: ORDER,
    query: { ...parameters, proofs },
    answer: entries,
    refusals: {
      'bad-request': INVALID_PAGE,
      'not-found': 'The token is no token of an organization, or the organization has no audit trail.',
      unprocessable: INVALID,
    },
  },
});

const event = z
  .strictObject({
    type: exampleText('cadastre.WorkspaceLocked.v1', 'The type of the CloudEvent.'),
    time: timestamp('When the event happened.'),
    stream: exampleText('ws-7hQ2vXbN4kTgYw3D', 'The stream of the event, and the key of the message in Kafka.'),
    version: count('The number of the event in its stream.').meta({ examples: [4] }),
    transaction: exampleText('7421', 'The first part of the position in the log: the Postgres transaction.'),
    position: count('The second part of the position in the log.').meta({ examples: [1290] }),
    correlation_id: exampleText('0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f', 'All events of one request share it.'),
    causation_id: exampleText('0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f')
      .nullable()
      .meta({ description: 'The id of the event that caused this one, if a background process appended it.' }),
    topic: exampleText('cadastre.workspaces')
      .nullable()
      .meta({ description: 'The Kafka topic of the event; null if the server publishes to no Kafka.' }),
  })
  .meta({ id: 'AuditTrailEvent', description: 'The event that an entry of the audit trail records.' });

const entryDetails = z
  .strictObject({
    data: entry,
    event,
    related: z.array(entry).meta({
      description:
        'Other entries of the same request, oldest first, among the 200 entries before and the 200 entries after this one.',
    }),
  })
  .meta({ id: 'AuditTrailEntryDetails', description: 'An entry of the audit trail, its event, and related entries.' });

const namedTrail = {
  query: {
    ...parameters,
    proofs,
    format: parameter.choice(
      TRAIL_FORMATS,
      'The format of the answer. It has precedence over the `Accept` header. All formats except `json` are files without pages: `ndjson` has one `AuditTrailEntry` in each line, `ocsf` one event of OCSF 1.8, `cef` one line of CEF, and `parquet` one row for each entry.',
    ),
  },
  answer: entriesInAnyFormat,
};

const entryAnswer = describeJson(entryDetails, { mediaType: 'application/json' });

export const organizationAuditTrailOperations = describeController(OrganizationAuditTrailController, AUDIT_TRAIL, {
  list: {
    operationId: 'listAuditTrailOfOrganization',
    summary: 'Read the audit trail of an organization',
    description: `${ORDER} Owners, site admins and both kinds of tokens that can read the trail may read it.`,
    ...namedTrail,
    refusals: { 'bad-request': INVALID_PAGE, unprocessable: INVALID },
  },
  show: {
    operationId: 'showAuditTrailEntry',
    summary: 'Show an entry of the audit trail',
    answer: entryAnswer,
  },
});

export const siteAuditTrailOperations = describeController(SiteAuditTrailController, AUDIT_TRAIL, {
  list: {
    operationId: 'listAuditTrailOfSite',
    summary: 'Read the audit trail of the site',
    description: `${ORDER} Site admins may read it.`,
    ...namedTrail,
    refusals: {
      'bad-request': INVALID_PAGE,
      unprocessable: INVALID,
      unavailable: 'The server was upgraded, and the audit trail of the site is being computed.',
    },
  },
  show: {
    operationId: 'showSiteAuditTrailEntry',
    summary: 'Show an entry of the audit trail of the site',
    answer: entryAnswer,
  },
});

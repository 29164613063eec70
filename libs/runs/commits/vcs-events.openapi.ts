import { z } from 'zod';
import {
  defineResource,
  describeController,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { INCLUDES, VcsEventsController } from './vcs-events.controller.js';
import { VCS_EVENT_LEVELS } from './vcs-events.queries.js';

export const vcsEventSchema = defineResource({
  name: 'VcsEvent',
  type: 'vcs-events',
  noun: 'VCS event',
  description: 'What became of a commit or of a delivery of a Git host, and why. The server keeps it for 10 days.',
  exampleId: 've-5d1c0f7e3a9b2468',
  attributes: {
    'created-at': timestamp(),
    level: z.enum(VCS_EVENT_LEVELS),
    message: exampleText(
      'Workspace network does not run the commit 3fa1c2d4e5b6 of the branch main of acme/network: No changed file matches the triggers',
    ),
    'organization-id': exampleText('org-7mHkWtYbLd3QxRpN'),
    'suggested-action': exampleText('Give the account of the connection the right to manage webhooks.').nullable(),
  },
  relationships: { 'oauth-client': related.one('oauth-clients'), workspace: related.one('workspaces') },
});

export const vcsEventsOperations = describeController(
  VcsEventsController,
  {
    name: 'VCS events',
    description: 'What became of commits and of deliveries of Git hosts.',
    resource: vcsEventSchema,
    include: { values: INCLUDES, resources: ['OAuthClient'] },
  },
  {
    list: {
      summary: 'List the VCS events of an organization',
      description: 'The newest event is the first.',
      query: {
        'filter[from]': parameter.text('Only events since this time.'),
        'filter[to]': parameter.text('Only events until this time.'),
        'filter[oauth_client_external_ids]': parameter.list('Only events of OAuth clients with these ids.'),
        'filter[levels]': parameter.list('Only events with these levels: `info` or `error`.'),
      },
      refusals: { 'bad-request': 'A filter is not valid.' },
    },
  },
);

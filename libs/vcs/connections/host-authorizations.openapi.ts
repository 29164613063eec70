import { z } from 'zod';
import { describeController, describeEmpty, htmlPage, nextPage } from '#api/json-api/description';
import { HostAuthorizationsController } from './host-authorizations.controller.js';

const parameter = (description: string) => z.string().optional().meta({ description });

const toHost = describeEmpty({
  description: 'Leads to a page of the Git host.',
  headers: { Location: z.string().meta({ description: 'The address of the page.', format: 'uri' }) },
});

export const hostAuthorizationsOperations = describeController(
  HostAuthorizationsController,
  {
    name: 'Authorizations at Git hosts',
    description: 'Pages between this server and Git hosts.',
    path: {
      id: { description: 'The id of the OAuth client.', example: 'oc-9sRk2mTqXb4VnYw7' },
      host: { description: 'The host of the address of the OAuth client.', example: 'git.example.com' },
    },
  },
  {
    start: {
      operationId: 'startHostAuthorization',
      summary: 'Start to authorize an OAuth client at its Git host',
      description: 'The `connect-path` of OAuth clients with a key. Requests from pages of other sites start nothing.',
      otherAnswers: { 303: toHost },
      refusals: {
        'not-found': 'The OAuth client does not exist, has an access token, or the person may not change it.',
      },
    },
    finish: {
      operationId: 'finishHostAuthorization',
      summary: 'Finish the authorization of an OAuth client',
      description:
        'The Git host sends browsers here. Each authorization ends once, within 10 minutes, in the session in which it started.',
      query: {
        state: parameter('Identifies the authorization.'),
        code: parameter('Stands for the token.'),
        error: parameter('Why the Git host grants no token.'),
      },
      otherAnswers: { 303: nextPage, 400: htmlPage },
      events: ['OauthTokenAdded', 'OauthTokenReplaced'],
    },
  },
);

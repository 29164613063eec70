import { z } from 'zod';
import { describeController, describeFormBody, htmlPage, nextPage, pageParameters } from '#api/json-api/description';
import { TOKEN_ACCESS } from '#api/access';
import { ACCOUNT } from '../account/account.openapi.js';
import { AccountTokensController, newTokenForm } from './account-tokens.controller.js';

export const accountTokensOperations = describeController(AccountTokensController, ACCOUNT, {
  show: {
    operationId: ['getAccountTokensPage', 'getTokensPageOfTerraform'],
    summary: 'Show the tokens of the person',
    query: {
      ...pageParameters(100),
      done: z.string().optional().meta({ description: 'The change that led here.' }),
      description: z.string().optional().meta({ description: 'The description of the token that the person creates.' }),
      access: z.enum(TOKEN_ACCESS).optional().meta({ description: 'The access of the token that the person creates.' }),
      organization: z
        .string()
        .optional()
        .meta({ description: 'The only organization of the token that the person creates.' }),
    },
    otherAnswers: { 303: nextPage },
  },
  create: {
    operationId: 'createOwnToken',
    summary: 'Create a token on a page',
    description: 'Only this page contains the token itself. The server stores a hash of it.',
    body: describeFormBody(newTokenForm, { description: 'laptop', access: 'read-only', organization: 'acme' }),
    otherAnswers: { 303: nextPage, 422: htmlPage },
  },
  revoke: {
    operationId: 'revokeOwnToken',
    summary: 'Revoke a token on a page',
    path: { id: { description: 'The id of the token.', example: 'at-6bLq9TzNw4XcVk2R' } },
    refusals: { 'not-found': 'The token does not exist, or belongs to another person.' },
  },
});

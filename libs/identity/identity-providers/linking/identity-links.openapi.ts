import { z } from 'zod';
import { describeController, htmlPage, nextPage } from '#api/json-api/description';
import { OIDC_SIGN_IN } from '../sign-in/oidc-sign-in.openapi.js';
import { IdentityLinksController } from './identity-links.controller.js';

export const identityLinksOperations = describeController(IdentityLinksController, OIDC_SIGN_IN, {
  start: {
    operationId: 'startIdentityLink',
    summary: 'Start to link the account with an identity provider',
    query: { token: z.string().optional().meta({ description: 'The token of the account page.' }) },
    otherAnswers: { 303: nextPage, 400: htmlPage, 503: htmlPage },
    refusals: { 'not-found': 'No provider with this id is enabled.' },
  },
});

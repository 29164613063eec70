import { z } from 'zod';
import { describeController, describeFormBody, describeJson, exampleText } from '#json-api/description';
import { OAUTH } from './authorize/authorize.openapi.js';
import { authorizationCodeForm } from './grants/authorization-code.grant.js';
import { OauthTokenController } from './oauth-token.controller.js';
import { oauthErrors } from './protocol/oauth-errors.openapi.js';

const form = authorizationCodeForm.extend({ grant_type: z.literal('authorization_code') });

const answer = z.strictObject({
  access_token: exampleText('aBcDeFgHiJkLmN.atlasv1.secret'),
  token_type: z.literal('Bearer'),
  expires_in: z.int().optional().meta({ description: 'Seconds until the token ends. Absent if it never ends.' }),
  issued_token_type: z.string().optional().meta({ description: 'Only after a token exchange.' }),
});

export const oauthTokenOperations = describeController(OauthTokenController, OAUTH, {
  issue: {
    operationId: 'exchangeForToken',
    summary: 'Exchange a code for a token',
    description:
      'A code works once and for 60 seconds. If it is sent again, the server refuses it and revokes the token that it ' +
      'led to.',
    body: describeFormBody(form, {
      grant_type: 'authorization_code',
      code: 'of-the-page',
      redirect_uri: 'http://localhost:10000/login',
      client_id: 'terraform-cli',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    }),
    answer: describeJson(answer, { mediaType: 'application/json', description: 'The token.' }),
    refusals: { 'bad-request': 'The code or a parameter is not valid, or the grant type is not supported.' },
    refusalContent: oauthErrors,
    events: ['AuthenticationTokenCreated'],
  },
});

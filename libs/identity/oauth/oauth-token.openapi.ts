import { z } from 'zod';
import { describeController, describeFormBody, describeJson, exampleText } from '#api/json-api/description';
import { exchangeForm } from '#identity/workload-identities';
import { OAUTH } from './authorize/authorize.openapi.js';
import { authorizationCodeForm } from './grants/authorization-code.grant.js';
import { OauthTokenController } from './oauth-token.controller.js';
import { oauthErrors } from './protocol/oauth-errors.openapi.js';

const form = z.union([
  authorizationCodeForm.extend({ grant_type: z.literal('authorization_code') }),
  exchangeForm.extend({
    audience: exchangeForm.shape.audience.meta({ description: 'The id of a workload identity.' }),
  }),
]);

const answer = z.strictObject({
  access_token: exampleText('aBcDeFgHiJkLmN.atlasv1.secret'),
  token_type: z.literal('Bearer'),
  expires_in: z.int().optional().meta({ description: 'Seconds until the token ends. Absent if it never ends.' }),
  issued_token_type: z.string().optional().meta({ description: 'Only after a token exchange.' }),
});

export const oauthTokenOperations = describeController(OauthTokenController, OAUTH, {
  issue: {
    operationId: 'exchangeForToken',
    summary: 'Exchange a code, or the token of a pipeline, for a token',
    description:
      'With `authorization_code`: a code of a login works once and for 60 seconds. If it is sent again, the server ' +
      'refuses it and revokes the token that it led to. With token exchange (RFC 8693): `audience` is the id of a ' +
      'workload identity, and `subject_token` an OpenID Connect token whose issuer, audience and claims the identity ' +
      'accepts. It can be exchanged several times until it expires.',
    body: describeFormBody(form, {
      grant_type: 'authorization_code',
      code: 'of-the-page',
      redirect_uri: 'http://localhost:10000/login',
      client_id: 'terraform-cli',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    }),
    answer: describeJson(answer, { mediaType: 'application/json', description: 'The token.' }),
    refusals: {
      'bad-request':
        'The code, the token of the pipeline or a parameter is not valid, or the grant type is not supported.',
      'too-many': 'The address has had too many failed exchanges, or the team has too many unexpired tokens.',
      unavailable: 'The issuer of the token of the pipeline cannot be reached.',
    },
    refusalContent: oauthErrors,
  },
});

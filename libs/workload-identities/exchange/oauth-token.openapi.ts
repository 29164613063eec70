import { z } from 'zod';
import { describeController, describeFormBody, describeJson, exampleText } from '#json-api/description';
import { ACCESS_TOKEN, exchangeForm, TOKEN_EXCHANGE } from './exchange-request.js';
import { OauthTokenController } from './oauth-token.controller.js';

const OAUTH = { name: 'OAuth', description: 'Tokens by the protocol OAuth 2.0, for programs.' };

const exchangedToken = z
  .strictObject({
    access_token: exampleText('ai1yMKOzv3Mptg.atlasv1.lOseEHJzlB49Vz0f…', 'A token of the team.'),
    issued_token_type: z.literal(ACCESS_TOKEN),
    token_type: z.literal('Bearer'),
    expires_in: z
      .int()
      .min(0)
      .meta({ description: 'Seconds until the token expires.', examples: [3_600] }),
  })
  .meta({ id: 'ExchangedToken', description: 'A token for a pipeline (RFC 8693 §2.2.1).' });

const oauthError = z
  .strictObject({
    error: exampleText('invalid_request', 'A code of RFC 6749 §5.2 or RFC 8693 §2.2.2.'),
    error_description: exampleText('subject_token: the token has expired (exp). Request a new one'),
  })
  .meta({ id: 'OAuthError', description: 'The reason why a token endpoint refuses a request.' });

export const oauthTokenOperations = describeController(OauthTokenController, OAUTH, {
  create: {
    operationId: 'exchangeToken',
    summary: 'Exchange the token of a pipeline for a token of a team',
    description:
      'Token exchange (RFC 8693). `audience` is the id of a workload identity, and `subject_token` an OpenID Connect token whose issuer, audience and claims the identity accepts. A token can be exchanged several times until it expires.',
    body: describeFormBody(exchangeForm, {
      grant_type: TOKEN_EXCHANGE,
      audience: 'wid-3kTq8VnYd5RbXpLw',
      subject_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvOmFjbWUvYXBwIn0.c2lnbmF0dXJl',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    }),
    answer: describeJson(exchangedToken, { mediaType: 'application/json', description: 'A token of the team.' }),
    refusals: {
      'bad-request': 'The request, the token of the pipeline or the audience is not accepted.',
      'too-many': 'The address has had too many failed exchanges, or the team has too many unexpired tokens.',
      unavailable: 'The issuer of the token cannot be reached.',
    },
    refusalContent: { mediaType: 'application/json', schema: oauthError },
    events: ['AuthenticationTokenCreated', 'WorkloadTokenIssued'],
  },
});

import { describeController, describeEmpty, describeFormBody } from '#api/json-api/description';
import { OAUTH } from './authorize/authorize.openapi.js';
import { OauthRevocationController, revocationForm } from './oauth-revocation.controller.js';
import { oauthErrors } from './protocol/oauth-errors.openapi.js';

export const oauthRevocationOperations = describeController(OauthRevocationController, OAUTH, {
  revoke: {
    operationId: 'revokePresentedToken',
    summary: 'Revoke the token that the request contains',
    description: 'Only tokens of people can be revoked in this way. For an unknown token it does nothing.',
    body: describeFormBody(revocationForm, { token: 'aBcDeFgHiJkLmN.atlasv1.secret' }),
    answer: describeEmpty({ description: 'The token is not valid any more.' }),
    refusals: { 'bad-request': 'The token is missing, or belongs to no person.' },
    refusalContent: oauthErrors,
    events: ['AuthenticationTokenDestroyed'],
  },
});

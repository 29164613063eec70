import { z } from 'zod';
import { describeController, describeEmpty, describeFormBody, exampleText } from '#api/json-api/description';
import { OIDC_SIGN_IN } from '../sign-in/oidc-sign-in.openapi.js';
import { BackChannelLogoutController, logoutForm } from './back-channel-logout.controller.js';

export const backChannelLogoutOperations = describeController(BackChannelLogoutController, OIDC_SIGN_IN, {
  end: {
    operationId: 'endSessionsOfProvider',
    summary: 'End the sessions that an identity provider has ended',
    description:
      'OpenID Connect Back-Channel Logout 1.0. Each token counts once. `sid` ends the sessions of one session at the ' +
      'provider, `sub` without `sid` all sessions of the person with the provider.',
    body: describeFormBody(logoutForm, { logout_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImxvZ291dCtqd3QifQ.e30.c2ln' }),
    answer: describeEmpty({ description: 'The sessions have ended, or there were none.' }),
    refusals: {
      'bad-request':
        'The logout token is not valid, is older than two minutes, or was used before, or no provider with this id is enabled.',
      unavailable: 'The keys of the provider cannot be read.',
    },
    refusalContent: {
      mediaType: 'application/json',
      schema: z.strictObject({
        error: exampleText('invalid_request').meta({ description: 'A code of OAuth.' }),
        error_description: exampleText('logout_token: is not accepted: the logout token was used before'),
      }),
    },
    events: ['SessionEnded'],
  },
});

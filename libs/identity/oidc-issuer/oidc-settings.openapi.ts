import { describeController } from '#api/json-api/description';
import { OIDC } from './oidc-issuer.openapi.js';
import { OidcSettingsController } from './oidc-settings.controller.js';

export const oidcSettingsOperations = describeController(OidcSettingsController, OIDC, {
  rotateKey: {
    operationId: 'rotateOidcKey',
    summary: 'Sign the tokens of runs with a new key',
    description:
      'The server publishes earlier keys until `trim-key`, so that the tokens of runs in progress stay valid.',
    events: ['OidcKeyRotated'],
  },
  trimKey: {
    operationId: 'trimOidcKeys',
    summary: 'Delete all keys except for the newest one',
    description: 'Tokens that an earlier key has signed are no longer valid.',
    events: ['OidcKeysTrimmed'],
  },
});

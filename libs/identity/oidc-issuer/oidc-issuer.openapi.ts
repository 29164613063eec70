import { z } from 'zod';
import { describeController, describeJson, exampleText } from '#api/json-api/description';
import { publicKeySchema } from './keys/oidc-keys.js';
import { OidcIssuerController } from './oidc-issuer.controller.js';

export const OIDC = {
  name: 'OpenID issuer',
  description: 'The issuer of the tokens with which runs authenticate at clouds.',
};

const URL = 'https://cadastre.example.com';

const configuration = z.strictObject({
  issuer: exampleText(URL),
  jwks_uri: exampleText(`${URL}/.well-known/jwks`),
  response_types_supported: z.array(z.literal('id_token')),
  subject_types_supported: z.array(z.literal('public')),
  id_token_signing_alg_values_supported: z.array(z.literal('RS256')),
  scopes_supported: z.array(z.literal('openid')),
  claims_supported: z.array(exampleText('terraform_workspace_name')),
});

const publicKey = publicKeySchema.extend({
  kid: exampleText('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'),
  n: exampleText('0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx'),
  e: exampleText('AQAB'),
});
const keys = z.strictObject({ keys: z.array(publicKey) });

const mediaType = 'application/json';

export const oidcIssuerOperations = describeController(OidcIssuerController, OIDC, {
  showConfiguration: {
    operationId: 'getOpenidConfiguration',
    summary: 'Describe the issuer of the tokens of runs',
    answer: describeJson(configuration, { mediaType, description: 'The addresses and abilities of the issuer.' }),
  },
  showKeys: {
    operationId: 'getOpenidKeys',
    summary: 'Show the keys that verify the tokens of runs',
    answer: describeJson(keys, { mediaType, description: 'The public keys, newest first.' }),
  },
});

import { z } from 'zod';
import { describeController, describeJson, exampleText } from '#api/json-api/description';
import { OAUTH } from './authorize/authorize.openapi.js';
import { OauthMetadataController } from './oauth-metadata.controller.js';

const toAddress = (path: string) => exampleText(`https://cadastre.example.com${path}`);

const metadata = z.strictObject({
  issuer: toAddress(''),
  authorization_endpoint: toAddress('/oauth/authorize'),
  token_endpoint: toAddress('/oauth/token'),
  revocation_endpoint: toAddress('/oauth/revoke'),
  response_types_supported: z.array(z.literal('code')),
  response_modes_supported: z.array(z.literal('query')),
  grant_types_supported: z.array(exampleText('authorization_code')),
  code_challenge_methods_supported: z.array(z.literal('S256')),
  token_endpoint_auth_methods_supported: z.array(z.literal('none')),
  revocation_endpoint_auth_methods_supported: z.array(z.literal('none')),
  authorization_response_iss_parameter_supported: z.literal(true),
});

export const oauthMetadataOperations = describeController(OauthMetadataController, OAUTH, {
  show: {
    operationId: 'getOauthMetadata',
    summary: 'Describe the OAuth server',
    description: 'Programs find the address for revocations here (RFC 8414).',
    answer: describeJson(metadata, { mediaType: 'application/json', description: 'The addresses and abilities.' }),
  },
});

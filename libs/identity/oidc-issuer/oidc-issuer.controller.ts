import { Controller, Get, Header } from '@nestjs/common';
import { Public } from '#api/access';
import { ALGORITHM, type OidcPublicKey } from './keys/oidc-keys.js';
import { IdentityTokens } from './tokens/identity-tokens.service.js';

/** The claims of the tokens of runs. @see https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials */
const CLAIMS = [
  'sub',
  'aud',
  'exp',
  'iat',
  'iss',
  'jti',
  'nbf',
  'terraform_run_phase',
  'terraform_workspace_id',
  'terraform_workspace_name',
  'terraform_organization_id',
  'terraform_organization_name',
  'terraform_project_id',
  'terraform_project_name',
  'terraform_run_id',
  'terraform_full_workspace',
];

/** Describes the issuer of the tokens of runs to those who verify them (OpenID Connect Discovery 1.0 §3). */
@Controller('.well-known')
@Public()
export class OidcIssuerController {
  constructor(private readonly tokens: IdentityTokens) {}

  @Get('openid-configuration')
  @Header('content-type', 'application/json')
  showConfiguration(): object {
    const { issuer } = this.tokens;
    return {
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ALGORITHM],
      scopes_supported: ['openid'],
      claims_supported: CLAIMS,
    };
  }

  @Get('jwks')
  @Header('content-type', 'application/json')
  async showKeys(): Promise<{ readonly keys: readonly OidcPublicKey[] }> {
    return { keys: await this.tokens.listKeys() };
  }
}

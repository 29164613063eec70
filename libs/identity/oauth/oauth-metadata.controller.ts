import { Controller, Get, Header, Inject } from '@nestjs/common';
import { Public } from '#api/access';
import { LOGIN_SERVICE } from '#api/edge';
import { TOKEN_GRANTS, type TokenGrant } from './grants/token.grant.js';
import { OAUTH_OPTIONS, type OauthOptions } from './oauth.options.js';

/** Describes the OAuth server to programs (RFC 8414). */
@Controller('.well-known/oauth-authorization-server')
@Public()
export class OauthMetadataController {
  constructor(
    @Inject(OAUTH_OPTIONS) private readonly options: OauthOptions,
    @Inject(TOKEN_GRANTS) private readonly grants: readonly TokenGrant[],
  ) {}

  @Get()
  @Header('content-type', 'application/json')
  show(): object {
    const { publicUrl } = this.options;
    return {
      issuer: publicUrl,
      authorization_endpoint: `${publicUrl}${LOGIN_SERVICE.authz}`,
      token_endpoint: `${publicUrl}${LOGIN_SERVICE.token}`,
      revocation_endpoint: `${publicUrl}/oauth/revoke`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: this.grants.map(({ grantType }) => grantType),
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
    };
  }
}

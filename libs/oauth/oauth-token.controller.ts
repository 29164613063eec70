import { Body, Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ConfigureRoute, describeRequest } from '#access';
import { TOKEN_GRANTS, type TokenAnswer, type TokenGrant } from './grants/token.grant.js';
import { OAUTH_ROUTE } from './protocol/oauth-route.options.js';
import { OauthRefusal } from './protocol/oauth-refusal.js';
import { parseParameters } from './protocol/parameters.js';

const grantTypeForm = z.looseObject({ grant_type: z.string().max(200) });

/** Issues tokens to programs (RFC 6749 §3.2). */
@Controller('oauth/token')
export class OauthTokenController {
  private readonly grants: ReadonlyMap<string, TokenGrant>;

  constructor(@Inject(TOKEN_GRANTS) grants: readonly TokenGrant[]) {
    this.grants = new Map(grants.map((grant) => [grant.grantType, grant]));
  }

  @Post()
  @HttpCode(200)
  @ConfigureRoute(OAUTH_ROUTE)
  issue(@Body() body: unknown, @Req() request: FastifyRequest): Promise<TokenAnswer> {
    const { grant_type: type } = parseParameters(grantTypeForm, body);
    const grant = this.grants.get(type);
    if (!grant) {
      const accepted = [...this.grants.keys()].join(', ');
      throw new OauthRefusal('unsupported_grant_type', `grant_type: must be one of ${accepted}, got ${type}`);
    }
    return grant.issue(parseParameters(grant.form, body), describeRequest(request));
  }
}

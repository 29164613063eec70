import { Body, Controller, Header, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ConfigureRoute, describeRequest } from '#api/access';
import { TOKEN_GRANTS, type TokenAnswer, type TokenGrant } from './grants/token.grant.js';
import { OAUTH_ROUTE } from './protocol/oauth-route.options.js';
import { OauthRefusal } from '#api/json-api';
import { parseParameters } from './protocol/parameters.js';

const grantTypeForm = z.looseObject({ grant_type: z.string().max(200).default('') });

/** Issues tokens to programs (RFC 6749 §3.2). */
@Controller('oauth/token')
export class OauthTokenController {
  private readonly grants: ReadonlyMap<string, TokenGrant>;

  constructor(@Inject(TOKEN_GRANTS) grants: readonly TokenGrant[]) {
    this.grants = new Map(grants.map((grant) => [grant.grantType, grant]));
  }

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Header('content-type', 'application/json')
  @ConfigureRoute(OAUTH_ROUTE)
  issue(@Body() body: unknown, @Req() request: FastifyRequest): Promise<TokenAnswer> {
    const { grant_type: type } = parseParameters(grantTypeForm, body);
    const grant = this.grants.get(type);
    if (!grant) {
      const accepted = [...this.grants.keys()].join(' or ');
      const error = type === '' ? 'invalid_request' : 'unsupported_grant_type';
      throw new OauthRefusal(error, `grant_type: must be ${accepted}, got ${type === '' ? 'none' : type}`);
    }
    return grant.issue(parseParameters(grant.form, body), describeRequest(request));
  }
}

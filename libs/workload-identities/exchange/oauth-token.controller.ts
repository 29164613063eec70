import { Body, Controller, Header, HttpCode, Post, Req, UseFilters } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, describeRequest } from '#access';
import { OAuthRefusalFilter } from './oauth-refusal.filter.js';
import { TokenExchange, type ExchangedToken } from './token-exchange.service.js';

/** The token endpoint (RFC 6749 §3.2). */
@Controller('oauth')
@UseFilters(OAuthRefusalFilter)
export class OauthTokenController {
  constructor(private readonly tokens: TokenExchange) {}

  @Post('token')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Header('content-type', 'application/json')
  @ConfigureRoute({ isPublic: true, formBody: true })
  create(@Body() form: unknown, @Req() request: FastifyRequest): Promise<ExchangedToken> {
    return this.tokens.exchange(form, describeRequest(request));
  }
}

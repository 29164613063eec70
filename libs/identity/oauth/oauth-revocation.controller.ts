import { Body, Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  Authenticator,
  ConfigureRoute,
  describeRequest,
  repeatWhileAccessChanges,
  UNRESTRICTED,
  type Identity,
} from '#api/access';
import { Refusal } from '#platform/kernel';
import { ChangeAuthenticationToken } from '#identity/people';
import { OAUTH_ROUTE } from './protocol/oauth-route.options.js';
import { OauthRefusal } from '#api/json-api';
import { parseParameters } from './protocol/parameters.js';

/** `token_type_hint` and `client_id` are allowed and not needed: the token alone shows what it is. */
export const revocationForm = z.object({ token: z.string().min(1).max(4_096) });

/** Revokes the tokens that programs no longer need (RFC 7009). */
@Controller('oauth/revoke')
export class OauthRevocationController {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly bus: CommandBus,
  ) {}

  /** Does nothing for an unknown token, because its holder then has what they want (RFC 7009 §2.2). */
  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Header('content-type', 'application/json')
  @ConfigureRoute(OAUTH_ROUTE)
  async revoke(@Body() body: unknown, @Req() request: FastifyRequest): Promise<void> {
    const { token } = parseParameters(revocationForm, body);
    await repeatWhileAccessChanges(async () => {
      const identity = await this.findIdentity(token, request);
      if (!identity?.token) return;
      if (identity.kind !== 'user') {
        throw new OauthRefusal('unsupported_token_type', 'The token belongs to no person. Its owner can delete it.');
      }
      // A restricted token may not delete tokens, except itself in this way.
      const actor = { ...identity, restriction: UNRESTRICTED, request: describeRequest(request) };
      try {
        await this.bus.execute(new ChangeAuthenticationToken('DestroyToken', { target: identity.token, actor }));
      } catch (error) {
        // The identity can be a cached one, of a token that was deleted meanwhile.
        this.authenticator.forget(token);
        if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
      }
    });
  }

  private async findIdentity(token: string, request: FastifyRequest): Promise<Identity | null> {
    // A text with a space can stand for a session (toSessionCredential), and is no token.
    if (/\s/.test(token)) return null;
    try {
      return await this.authenticator.identify(token, describeRequest(request).address ?? '');
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'unauthorized') return null;
      throw error;
    }
  }
}

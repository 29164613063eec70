import { Body, Controller, Header, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ConfigureRoute, describeRequest } from '#api/access';
import { OauthRefusal } from '#api/json-api';
import { countLogout } from '../identity-providers.metrics.js';
import { ProviderFault } from '../protocol/provider-fault.js';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { BackChannelLogout } from './back-channel-logout.service.js';

const MAX_TOKEN = 16_384;
const RETRY_SECONDS = 10;

export const logoutForm = z.object({ logout_token: z.string().min(1).max(MAX_TOKEN) });

const toRefusal = ({ kind, message }: ProviderFault): OauthRefusal =>
  kind === 'unreachable'
    ? new OauthRefusal('temporarily_unavailable', `The keys of the provider cannot be read: ${message}`, {
        kind: 'unavailable',
        retryAfter: RETRY_SECONDS,
      })
    : new OauthRefusal('invalid_request', `logout_token: is not accepted: ${message}`);

/** Identity providers report here which of their sessions have ended. They send no token of this server. */
@Controller('oauth/back-channel-logout')
export class BackChannelLogoutController {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly logout: BackChannelLogout,
  ) {}

  @Post(':provider')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Header('content-type', 'application/json')
  @ConfigureRoute({ isPublic: true, formBody: true })
  async end(@Param('provider') id: string, @Body() body: unknown, @Req() request: FastifyRequest): Promise<void> {
    const provider = await this.directory.findEnabledWith('oidc', id);
    const form = logoutForm.safeParse(body);
    if (!provider || !form.success) {
      countLogout(provider?.id ?? null, 'invalid');
      // Back-Channel Logout 1.0 §2.8 demands 400 for every failure.
      throw new OauthRefusal(
        'invalid_request',
        provider ? `logout_token: must have 1 to ${MAX_TOKEN} characters` : 'There is no such identity provider',
      );
    }
    try {
      await this.logout.end(provider, form.data.logout_token, describeRequest(request));
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      countLogout(provider.id, error.kind === 'unreachable' ? 'unreachable' : 'invalid');
      throw toRefusal(error);
    }
    countLogout(provider.id, 'accepted');
  }
}

import { Controller, Get, Param, Query, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OptionalActor, Page, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { PageRefusalFilter, parseReturnPath } from '#api/pages';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { FinishedSignIns } from './finished-sign-ins.service.js';
import { OidcFlow } from './oidc-flow.service.js';
import { renderNoSignOutPage } from './oidc-pages.renderer.js';
import { redirectToProvider, sendStatusPage, SignInStart } from './sign-in-start.service.js';

type Query = Readonly<Record<string, unknown>>;

/** The pages between this server and identity providers. */
@Controller('sign-in/oidc')
@UseFilters(PageRefusalFilter)
export class OidcSignInController {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly starts: SignInStart,
    private readonly finished: FinishedSignIns,
    private readonly oidc: OidcFlow,
  ) {}

  @Get(':provider')
  @Page({ isPublic: true })
  async start(
    @Param('provider') id: string,
    @Query() query: Query,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const provider = await this.findProvider(id);
    const [returnTo, confirms] = [parseReturnPath(query['return_to']), query['confirm'] === '1'];
    return this.starts.redirect(reply, provider, { returnTo, confirms, link: null });
  }

  /** The provider sends the browser here. The query has a code, or an error. */
  @Get(':provider/callback')
  @Page({ isPublic: true })
  async finish(
    @Param('provider') id: string,
    @Query() query: Query,
    @OptionalActor() actor: Actor | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const answer = { provider: id, protocol: 'oidc', state: query['state'], actor } as const;
    return this.finished.finish(reply, answer, (provider, pending) => this.oidc.finish(provider, pending, request.url));
  }

  /** Leads to the provider's page to sign out. The session here has ended before. */
  @Get(':provider/sign-out')
  @Page({ isPublic: true })
  async signOut(
    @Param('provider') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const provider = await this.findProvider(id);
    const address = await this.oidc.findSignOutAddress(provider);
    if (address !== null) return redirectToProvider(reply, address);
    return sendStatusPage(reply, renderNoSignOutPage(provider.settings.name));
  }

  private async findProvider(id: string): Promise<IdentityProviderRow> {
    const provider = await this.directory.findEnabledWith('oidc', id);
    if (!provider) throw notFound('There is no such identity provider');
    return provider;
  }
}

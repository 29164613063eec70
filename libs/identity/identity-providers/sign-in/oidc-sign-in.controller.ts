import { Controller, Get, Param, Query, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeRequest, OptionalActor, Page, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { PageRefusalFilter, parseReturnPath, redirectToPage } from '#api/pages';
import { AccountService, getNextPath, SignInFlow, type SignInRequest } from '#identity/sign-in';
import { countOidcResult } from '../identity-providers.metrics.js';
import type { IdentityClaims } from '../protocol/identity-claims.js';
import { OidcFlow } from './oidc-flow.service.js';
import { ProviderFault } from '../protocol/provider-fault.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { IdentitySignIn } from './identity-sign-in.service.js';
import { renderExpiredPage, renderNoSignOutPage, renderRefusedPage } from './oidc-pages.renderer.js';
import { OidcStart, redirectToProvider, sendStatusPage } from './oidc-start.service.js';
import { PendingSignIns, type PendingOidc } from './pending-sign-ins.service.js';
import { findUnsatisfiedRules } from './sign-in-rules.js';

const HOME = '/account';

type Query = Readonly<Record<string, unknown>>;
type VerifiedSignIn = {
  readonly provider: IdentityProviderRow;
  readonly claims: IdentityClaims;
  readonly pending: PendingOidc;
};

/** The pages between this server and identity providers. */
@Controller('sign-in/oidc')
@UseFilters(PageRefusalFilter)
export class OidcSignInController {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly starts: OidcStart,
    private readonly pending: PendingSignIns,
    private readonly oidc: OidcFlow,
    private readonly identities: IdentitySignIn,
    private readonly account: AccountService,
    private readonly flow: SignInFlow,
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
    const pending = await this.pending.use(request.headers.cookie, query['state']);
    const provider = pending?.provider === id ? await this.directory.findEnabled(id) : undefined;
    if (!pending || !provider) {
      countOidcResult(null, 'expired');
      return sendStatusPage(reply, renderExpiredPage());
    }
    void reply.header('set-cookie', this.pending.forget());
    const signIn = { request: describeRequest(request), cookies: request.headers.cookie, actor };
    try {
      const claims = await this.oidc.finish(provider, pending, request.url);
      const verified = { provider, claims, pending };
      return await (pending.link ? this.link(reply, verified, actor) : this.signIn(reply, verified, signIn));
    } catch (error) {
      // An outage of the provider does not count: a delay would also block the other sign-in methods.
      if (error instanceof ProviderFault && error.kind !== 'unreachable') await this.flow.countFailedIdentity(signIn);
      return this.starts.showFault(reply, error, { provider, purpose: pending });
    }
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

  private async signIn(
    reply: FastifyReply,
    { provider, claims, pending: { returnTo, confirms } }: VerifiedSignIn,
    request: SignInRequest,
  ): Promise<string | void> {
    const result = await this.identities.signIn({ provider, claims }, request);
    countOidcResult(provider.id, result.outcome === 'refused' ? 'not-allowed' : result.outcome);
    if (result.outcome === 'refused') {
      return sendStatusPage(reply, renderRefusedPage(provider.settings.name, result.faults, { returnTo, confirms }));
    }
    void reply.header('set-cookie', [...result.cookies]);
    return redirectToPage(reply, getNextPath(result.outcome, returnTo));
  }

  /** Links the account of the session that started the link. */
  private async link(
    reply: FastifyReply,
    { provider, claims, pending: { link } }: VerifiedSignIn,
    actor: Actor | null,
  ): Promise<string | void> {
    const { id, settings } = provider;
    if (!actor || actor.id !== link?.user || actor.token !== link.session) {
      return sendStatusPage(reply, renderExpiredPage());
    }
    const faults = findUnsatisfiedRules(claims, settings);
    if (faults.length > 0) {
      countOidcResult(id, 'not-allowed');
      return sendStatusPage(reply, renderRefusedPage(settings.name, faults, { returnTo: HOME }));
    }
    await this.account.linkIdentity(actor, { provider: id, issuer: settings.issuer, subject: claims.subject });
    countOidcResult(id, 'linked');
    return redirectToPage(reply, '/account?done=identity-linked');
  }

  private async findProvider(id: string): Promise<IdentityProviderRow> {
    const provider = await this.directory.findEnabled(id);
    if (!provider) throw notFound('There is no such identity provider');
    return provider;
  }
}

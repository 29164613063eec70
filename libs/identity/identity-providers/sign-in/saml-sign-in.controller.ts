import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ConfigureRoute, OptionalActor, Page, Public, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { PageRefusalFilter, parseForm, parseReturnPath, redirectToPage, sendPage, StaticFile } from '#api/pages';
import { MAX_XML } from '../saml/xml-elements.js';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { FinishedSignIns } from './finished-sign-ins.service.js';
import {
  renderContinuePage,
  renderExpiredPage,
  renderNoSignOutPage,
  renderUnknownSessionPage,
} from './oidc-pages.renderer.js';
import { SamlSessions } from './saml-sessions.service.js';
import { SamlFlow } from './saml-flow.service.js';
import { redirectToProvider, sendStatusPage, SignInStart } from './sign-in-start.service.js';

/** Bytes of a response as Base64 in a form, in which some characters become three. */
const MAX_FORM = 2 * MAX_XML;
/** Characters of a response as Base64. */
const MAX_RESPONSE = Math.ceil((MAX_XML * 4) / 3) + 1_000;

const script = new StaticFile(new URL('./assets/continue.js', import.meta.url), 'text/javascript; charset=utf-8');

export const responseForm = z.object({
  SAMLResponse: z.string().min(1).max(MAX_RESPONSE),
  RelayState: z.string().max(200).default(''),
});

/** The pages between this server and identity providers with SAML. */
@Controller('sign-in/saml')
@UseFilters(PageRefusalFilter)
export class SamlSignInController {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly starts: SignInStart,
    private readonly finished: FinishedSignIns,
    private readonly saml: SamlFlow,
    private readonly sessions: SamlSessions,
  ) {}

  @Get('continue.js')
  @Public()
  @Header('content-type', 'text/javascript; charset=utf-8')
  continueScript(@Res({ passthrough: true }) reply: FastifyReply): string {
    return script.send(reply);
  }

  @Get(':provider')
  @Page({ isPublic: true })
  async start(
    @Param('provider') id: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const provider = await this.findProvider(id);
    const [returnTo, confirms] = [parseReturnPath(query['return_to']), query['confirm'] === '1'];
    return this.starts.redirect(reply, provider, { returnTo, confirms, link: null });
  }

  /**
   * The provider lets the browser post its response here. The request comes from another site, so it has no cookies and
   * changes nothing. The page sends the response on, as a request of this site.
   */
  @Post(':provider/acs')
  @HttpCode(200)
  @ConfigureRoute({ isPublic: true, formBody: true, bodyLimit: MAX_FORM })
  receive(
    @Param('provider') id: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): string {
    const form = parseForm(responseForm, body);
    if (!/^[\w-]{1,100}$/.test(id)) return sendStatusPage(reply, renderExpiredPage());
    return sendPage(reply, 200, renderContinuePage(`/sign-in/saml/${id}/finish`, form));
  }

  @Post(':provider/finish')
  @HttpCode(303)
  @Page({ isPublic: true })
  @ConfigureRoute({ bodyLimit: MAX_FORM })
  async finish(
    @Param('provider') id: string,
    @Body() body: unknown,
    @OptionalActor() actor: Actor | null,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const { SAMLResponse: response, RelayState: state } = parseForm(responseForm, body);
    const answer = { provider: id, protocol: 'saml', state, actor } as const;
    return this.finished.finish(reply, answer, async (provider, pending) => {
      const { claims, session } = await this.saml.finish(provider, pending, response);
      void reply.header('set-cookie', this.sessions.remember(id, session));
      return claims;
    });
  }

  /** Leads to the provider, which ends its session. The session here has ended before. */
  @Get(':provider/sign-out')
  @Page({ isPublic: true })
  async signOut(
    @Param('provider') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const provider = await this.findProvider(id);
    const session = this.sessions.find(reply.request.headers.cookie, id);
    // A link of another site brings no cookie, so it ends nothing.
    if (!session) return sendStatusPage(reply, renderUnknownSessionPage(provider.settings.name, id));
    const address = await this.saml.buildSignOutAddress(provider, session);
    void reply.header('set-cookie', this.sessions.forget());
    if (address !== null) return redirectToProvider(reply, address);
    return sendStatusPage(reply, renderNoSignOutPage(provider.settings.name));
  }

  /** The provider sends the browser here after its session has ended. Nothing happens here. */
  @Get(':provider/logout')
  @Page({ isPublic: true })
  @HttpCode(303)
  leave(@Res({ passthrough: true }) reply: FastifyReply): void {
    redirectToPage(reply, '/sign-in');
  }

  /** Administrators upload it at the provider, also before they enable the provider here. */
  @Get(':provider/metadata')
  @Public()
  @Header('content-type', 'application/samlmetadata+xml')
  async metadata(@Param('provider') id: string): Promise<string> {
    const provider = await this.directory.findStored(id);
    if (provider?.settings.protocol !== 'saml') throw notFound('There is no such identity provider');
    return this.saml.describeService(provider);
  }

  private async findProvider(id: string): Promise<IdentityProviderRow> {
    const provider = await this.directory.findEnabledWith('saml', id);
    if (!provider) throw notFound('There is no such identity provider');
    return provider;
  }
}

import { Controller, Get, Param, Query, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CurrentActor, Page, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { PageRefusalFilter, redirectToPage } from '#api/pages';
import { AccountService, SignInTokens } from '#identity/sign-in';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { SignInStart } from '../sign-in/sign-in-start.service.js';

const CONFIRM = '/sign-in?confirm=1&return_to=/account';

const linkContent = z.object({ user: z.string(), session: z.string() });

/** Starts to link the account of a signed-in person with an account at a provider. */
@Controller('account/identity-providers')
@UseFilters(PageRefusalFilter)
export class IdentityLinksController {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly account: AccountService,
    private readonly tokens: SignInTokens,
    private readonly starts: SignInStart,
  ) {}

  /** The token of the account page shows that no other site sent the person here. */
  @Get(':id/link')
  @Page()
  async start(
    @Param('id') id: string,
    @Query('token') token: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const provider = await this.directory.findEnabled(id);
    if (!provider) throw notFound('There is no such identity provider');
    if (!(await this.account.mayChangeFactors(actor))) return redirectToPage(reply, CONFIRM);
    const link = this.tokens.read('identity-link', typeof token === 'string' ? token : undefined, linkContent);
    if (link?.user !== actor.id || link.session !== actor.token) return redirectToPage(reply, '/account');
    return this.starts.redirect(reply, provider, { returnTo: '/account', link, confirms: false });
  }
}

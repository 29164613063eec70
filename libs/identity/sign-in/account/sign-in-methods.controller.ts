import { Body, Controller, Get, HttpCode, Param, Post, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ConfigureRoutes, CurrentActor, Page, type Actor } from '#api/access';
import { Refusal } from '#platform/kernel';
import { PageRefusalFilter, parseForm, redirectToPage, sendPage } from '#api/pages';
import { newPasskeyForm, newPasswordForm, passkeyNameForm, totpForm } from '../pages/form-bodies.js';
import { renderRecoveryCodesPage } from './account.renderer.js';
import { AccountPages } from './account-pages.service.js';
import { AccountService } from './account.service.js';

const CONFIRM = '/sign-in?confirm=1&return_to=/account';
const WRONG_CODE =
  'This code is wrong. Check that the clock of your phone is right, and type the code that it shows now.';

/** Changes how a person signs in. Each change needs a sign-in of the last minutes. */
@Controller('account')
@UseFilters(PageRefusalFilter)
@ConfigureRoutes({ admitsOneFactor: true })
export class SignInMethodsController {
  constructor(
    private readonly account: AccountService,
    private readonly pages: AccountPages,
  ) {}

  @Post('password')
  @HttpCode(303)
  @Page()
  setPassword(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const { password } = parseForm(newPasswordForm, body);
    return this.change(reply, actor, 'password', () => this.account.setPassword(actor, password));
  }

  @Post('password/removal')
  @HttpCode(303)
  @Page()
  removePassword(
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    return this.change(reply, actor, 'password-removed', () => this.account.removePassword(actor));
  }

  @Get('totp')
  @Page()
  async startTotp(
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    if (!(await this.account.mayChangeFactors(actor))) return redirectToPage(reply, CONFIRM);
    return sendPage(reply, 200, await this.pages.renderTotpSetup(actor, this.account.startTotp(actor)));
  }

  @Post('totp')
  @HttpCode(200)
  @Page()
  async enableTotp(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const form = parseForm(totpForm, body);
    if (!(await this.account.mayChangeFactors(actor))) return redirectToPage(reply, CONFIRM);
    const result = await this.account.enableTotp(actor, form);
    if ('codes' in result) return sendPage(reply, 200, renderRecoveryCodesPage(actor.name, result.codes));
    return sendPage(reply, 422, await this.pages.renderTotpSetup(actor, result.again, WRONG_CODE));
  }

  @Post('totp/removal')
  @HttpCode(303)
  @Page()
  disableTotp(@CurrentActor() actor: Actor, @Res({ passthrough: true }) reply: FastifyReply): Promise<string | void> {
    return this.change(reply, actor, 'totp-removed', () => this.account.disableTotp(actor));
  }

  @Post('recovery-codes')
  @HttpCode(200)
  @Page()
  async createRecoveryCodes(
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    if (!(await this.account.mayChangeFactors(actor))) return redirectToPage(reply, CONFIRM);
    const codes = await this.account.createRecoveryCodes(actor);
    return sendPage(reply, 200, renderRecoveryCodesPage(actor.name, codes));
  }

  @Post('passkeys')
  @HttpCode(303)
  @Page()
  addPasskey(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const form = parseForm(newPasskeyForm, body);
    return this.change(reply, actor, 'passkey-added', () => this.account.addPasskey(actor, form));
  }

  @Post('passkeys/:id')
  @HttpCode(303)
  @Page()
  renamePasskey(
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const { name } = parseForm(passkeyNameForm, body);
    return this.change(reply, actor, 'passkey-renamed', () => this.account.renamePasskey(actor, id, name));
  }

  @Post('passkeys/:id/removal')
  @HttpCode(303)
  @Page()
  removePasskey(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    return this.change(reply, actor, 'passkey-removed', () => this.account.removePasskey(actor, id));
  }

  @Post('identities/:id/removal')
  @HttpCode(303)
  @Page()
  unlinkIdentity(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    return this.change(reply, actor, 'identity-unlinked', () => this.account.unlinkIdentity(actor, id));
  }

  /** Runs the change, and shows the account with the result or with the reason of a refusal. */
  private async change(
    reply: FastifyReply,
    actor: Actor,
    done: string,
    work: () => Promise<void>,
  ): Promise<string | void> {
    if (!(await this.account.mayChangeFactors(actor))) return redirectToPage(reply, CONFIRM);
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'unprocessable') throw error;
      return sendPage(reply, 422, await this.pages.renderAccount(actor, { error: error.message }));
    }
    return redirectToPage(reply, `/account?done=${done}`);
  }
}

import { Controller, Get, HttpCode, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  ConfigureRoutes,
  createEventContext,
  CurrentActor,
  formatEndedSessionCookie,
  Page,
  type Actor,
} from '#api/access';
import { EventStore } from '#storage/event-store';
import { notFound, sql } from '#platform/kernel';
import { PageRefusalFilter, redirectToPage, sendPage } from '#api/pages';
import { endSessions } from '#identity/people';
import { AccountPages } from './account-pages.service.js';

/** What happened before the page was shown again. */
const DONE: Readonly<Record<string, string>> = {
  password: 'Your password is set. Your other sessions have ended.',
  'password-removed': 'Your password is removed. Your other sessions have ended.',
  'totp-removed': 'One-time codes are off. Your other sessions have ended.',
  'passkey-added': 'The passkey is added. Your other sessions have ended.',
  'passkey-removed': 'The passkey is removed. Your other sessions have ended.',
  'passkey-renamed': 'The passkey is renamed.',
  'identity-linked': 'The identity provider is linked. Your other sessions have ended.',
  'identity-unlinked': 'The identity provider is unlinked. Your other sessions have ended.',
  'session-ended': 'The session has ended.',
};

/** The page on which people see their sessions, and how they sign in. */
@Controller('account')
@UseFilters(PageRefusalFilter)
@ConfigureRoutes({ admitsOneFactor: true })
export class AccountController {
  constructor(
    private readonly store: EventStore,
    private readonly pages: AccountPages,
  ) {}

  @Get()
  @Page()
  async show(
    @Query('done') done: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const notice = typeof done === 'string' && Object.hasOwn(DONE, done) ? DONE[done] : undefined;
    return sendPage(reply, 200, await this.pages.renderAccount(actor, { done: notice ?? null }));
  }

  @Post('sessions/end')
  @HttpCode(303)
  @Page()
  async endAllSessions(@CurrentActor() actor: Actor, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    const all = { user: actor.id, where: sql`true`, reason: 'signed-out' } as const;
    await endSessions(this.store, all, createEventContext(actor));
    void reply.header('set-cookie', formatEndedSessionCookie());
    redirectToPage(reply, '/sign-in');
  }

  @Post('sessions/:id/end')
  @HttpCode(303)
  @Page()
  async endSession(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const one = { user: actor.id, where: sql`session.id = ${id}`, reason: 'signed-out' } as const;
    if ((await endSessions(this.store, one, createEventContext(actor))) === 0) throw notFound('This session has ended');
    redirectToPage(reply, id === actor.token ? '/sign-in' : '/account?done=session-ended');
  }
}

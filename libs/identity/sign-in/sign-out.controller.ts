import { Controller, HttpCode, Post, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { createEventContext, formatEndedSessionCookie, OptionalActor, Page, type Actor } from '#api/access';
import { EventStore } from '#storage/event-store';
import { sql } from '#platform/kernel';
import { PageRefusalFilter, redirectToPage } from '#api/pages';
import { endSessions, listOwnSessions } from '#identity/people';

@Controller('sign-out')
@UseFilters(PageRefusalFilter)
export class SignOutController {
  constructor(private readonly store: EventStore) {}

  /**
   * Ends the session of the browser, and offers to sign out at its identity provider too. Without a session it only
   * removes the cookie.
   */
  @Post()
  @HttpCode(303)
  @Page({ isPublic: true })
  async signOut(@OptionalActor() actor: Actor | null, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    let query = '';
    if (actor?.token) {
      const own = await listOwnSessions(this.store.database, actor);
      const provider = own.find(({ id }) => id === actor.token)?.provider;
      if (provider) query = `?left=${encodeURIComponent(provider)}`;
      const ended = { user: actor.id, where: sql`session.id = ${actor.token}`, reason: 'signed-out' } as const;
      await endSessions(this.store, ended, createEventContext(actor));
    }
    void reply.header('set-cookie', formatEndedSessionCookie());
    redirectToPage(reply, `/sign-in${query}`);
  }
}

import { Controller, Delete, Get, HttpCode, Param, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { badRequest } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { type Actor, CurrentActor, LimitAccessChanges } from '#api/access';
import {
  toOne,
  type Resource,
  getParameter,
  parsePage,
  renderDocument,
  renderPage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { type SessionRow, findSession, listSessions } from './sessions.view.js';
import { ChangeSession } from './sessions.handler.js';

export const renderSession = (session: SessionRow, actor: Actor): Resource => ({
  id: session.id,
  type: 'sessions',
  attributes: {
    'created-at': session.createdAt,
    'last-used-at': session.lastUsedAt,
    'expired-at': session.expiredAt,
    method: session.method,
    assurance: session.assurance,
    address: session.address,
    'user-agent': session.userAgent,
    current: session.id === actor.token,
  },
  relationships: { user: toOne('users', session.user, `/api/v2/users/${session.user}`) },
});

/** Rejects unknown values: a typing error must not end the caller's own session. */
const parseExcept = (query: QueryOf): boolean => {
  const text = getParameter(query, 'except');
  if (text !== undefined && text !== 'current') throw badRequest(`except can only be current, got ${text}`, 'except');
  return text === 'current';
};

@Controller('api/v2')
export class SessionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('users/:id/sessions')
  async list(
    @Param('id') user: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listSessions(this.database, actor, user, page);
    return renderPage(
      rows.map((row) => renderSession(row, actor)),
      page,
      total,
      request.publicUrl,
    );
  }

  @Delete('users/:id/sessions')
  @HttpCode(204)
  @LimitAccessChanges()
  async endAll(@Param('id') user: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<void> {
    const except = parseExcept(query) ? actor.token : null;
    await this.bus.execute(new ChangeSession('EndSessions', { user, except, actor }));
  }

  @Get('sessions/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderSession(await findSession(this.database, actor, id), actor));
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  @LimitAccessChanges()
  async end(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeSession('EndSession', { id, actor }));
  }
}

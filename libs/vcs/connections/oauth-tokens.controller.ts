import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  resourceBody,
  text,
  type Document,
  type QueryParameters,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import type { OauthTokenRead } from './oauth-token-reads.js';
import { hasToken, renderOauthToken } from './oauth-clients.document.js';
import { ChangeOauthClient } from './oauth-clients.handler.js';
import { findOauthClient, findOauthToken, listOauthTokens, type OauthClientRow } from './oauth-clients.view.js';

/** RSA keys of 16,384 bits, the longest in use, need 13,000 characters. */
export const updateTokenBody = resourceBody(
  'oauth-tokens',
  z.object({ 'ssh-key': text(65_536).nullish() }).default({}),
);

@Controller('api/v2')
export class OauthTokensController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('organizations/:organization/oauth-tokens')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const listed = await listOauthTokens(this.database, actor, organization, page);
    await this.recordList(listed.organization, listed.rows, actor);
    return renderPage(listed.rows.filter(hasToken).map(renderOauthToken), page, listed.total, request.publicUrl);
  }

  @Get('oauth-clients/:id/oauth-tokens')
  async listOfClient(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const client = await findOauthClient(this.database, actor, 'read-vcs-connections', id);
    const tokens = [client].filter(hasToken);
    await this.recordList(client.organization, tokens, actor);
    const data = page.number === 1 ? tokens.map(renderOauthToken) : [];
    return renderPage(data, page, tokens.length, request.publicUrl);
  }

  @Get('oauth-tokens/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await findOauthToken(this.database, actor, id);
    const data = { token: id };
    await this.reads.record<OauthTokenRead>(actor, row.organization, { type: 'OauthTokenShown', data });
    return this.render(row);
  }

  @Patch('oauth-tokens/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const sshKey = parseBody(updateTokenBody, body).data.attributes['ssh-key'] ?? null;
    return this.render(await this.bus.execute(new ChangeOauthClient('UpdateOauthToken', { token: id, sshKey, actor })));
  }

  @Delete('oauth-tokens/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeOauthClient('DestroyOauthToken', { token: id, actor }));
  }

  private render(row: OauthClientRow | null): Document {
    if (!row || !hasToken(row)) throw notFound();
    return renderDocument(renderOauthToken(row));
  }

  private async recordList(organization: string, rows: readonly OauthClientRow[], actor: Actor): Promise<void> {
    const data = { organization, count: rows.length };
    await this.reads.record<OauthTokenRead>(actor, organization, { type: 'OauthTokensListed', data });
  }
}

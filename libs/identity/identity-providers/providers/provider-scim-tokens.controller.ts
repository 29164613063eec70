import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, LimitAccessChanges, RequireRecentSignIn, type Actor } from '#api/access';
import { Clock, notFound } from '#platform/kernel';
import { parsePage, renderDocument, renderPage, type Document, type QueryParameters } from '#api/json-api';
import {
  ChangeAuthenticationToken,
  LIST_SIZE,
  listTokens,
  parseDescribedToken,
  renderAuthenticationToken,
} from '#identity/people';
import { Database } from '#platform/postgres';
import { findProviderForActor } from './identity-providers.view.js';
import { ProviderDirectory, SETTINGS_PROVIDER_ID } from './provider-directory.service.js';

/** The tokens for SCIM of one identity provider. They see only the users and groups that tokens of the provider created. */
@Controller('api/v2/admin/identity-providers/:id/scim-tokens')
export class ProviderScimTokensController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly directory: ProviderDirectory,
    private readonly clock: Clock,
  ) {}

  @Get()
  async list(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
  ): Promise<Document> {
    await this.requireProvider(id, actor);
    const page = parsePage(query, LIST_SIZE);
    const { rows, total } = await listTokens(this.database, actor, { kind: 'scim', key: id }, page);
    return renderPage(rows.map(renderAuthenticationToken), page, total, request.publicUrl);
  }

  @Post()
  @LimitAccessChanges()
  @RequireRecentSignIn()
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const token = parseDescribedToken(body, this.clock.now());
    await this.requireProvider(id, actor);
    const input = { owner: { kind: 'scim', key: id }, token, replaces: false, actor } as const;
    const issued = await this.bus.execute(new ChangeAuthenticationToken('IssueToken', input));
    return renderDocument(renderAuthenticationToken(issued));
  }

  private async requireProvider(id: string, actor: Actor): Promise<void> {
    const stored = await findProviderForActor(this.database, actor, id);
    if (!stored && !(id === SETTINGS_PROVIDER_ID && this.directory.settingsProvider)) throw notFound();
  }
}

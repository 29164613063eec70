import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  getParameter,
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { agentPoolsBody, createBody, toListChanges, toNewList, updateBody } from './ip-allowlists.body.js';
import { ChangeIpAllowlist } from './ip-allowlists.handler.js';
import { renderIpAllowlist } from './ip-allowlists.document.js';
import { findIpAllowlist, listIpAllowlists } from './ip-allowlists.view.js';

@Controller('api/v2')
export class CidrRangeListsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  /** `meta` contains the address of the caller, so that people see which address a list has to contain. */
  @Get('organizations/:organization/cidr-range-lists')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const search = getParameter(query, 'q');
    const { rows, total } = await listIpAllowlists(this.database, actor, organization, page, search);
    const document = renderPage(rows.map(renderIpAllowlist), page, total, request.publicUrl);
    return { ...document, meta: { ...document.meta, 'client-address': actor.request.address } };
  }

  @Post('organizations/:organization/cidr-range-lists')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const list = toNewList(parseBody(createBody, body));
    const row = await this.bus.execute(new ChangeIpAllowlist('CreateIpAllowlist', { organization, list, actor }));
    return renderDocument(renderIpAllowlist(row));
  }

  @Get('cidr-range-lists/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderIpAllowlist(await findIpAllowlist(this.database, actor, id)));
  }

  @Patch('cidr-range-lists/:id')
  async update(@Param('id') list: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toListChanges(parseBody(updateBody, body));
    const row = await this.bus.execute(new ChangeIpAllowlist('UpdateIpAllowlist', { list, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(renderIpAllowlist(row));
  }

  @Delete('cidr-range-lists/:id')
  @HttpCode(204)
  async destroy(@Param('id') list: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeIpAllowlist('DeleteIpAllowlist', { list, actor }));
  }

  @Post('cidr-range-lists/:id/relationships/agent-pools')
  @HttpCode(204)
  assignAgentPools(@Param('id') list: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.changeAgentPools('AssignAgentPools', list, body, actor);
  }

  @Delete('cidr-range-lists/:id/relationships/agent-pools')
  @HttpCode(204)
  unassignAgentPools(@Param('id') list: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.changeAgentPools('UnassignAgentPools', list, body, actor);
  }

  private async changeAgentPools(
    type: 'AssignAgentPools' | 'UnassignAgentPools',
    list: string,
    body: unknown,
    actor: Actor,
  ): Promise<void> {
    const agentPools = parseBody(agentPoolsBody, body).data.map(({ id }) => id);
    await this.bus.execute(new ChangeIpAllowlist(type, { list, agentPools, actor }));
  }
}

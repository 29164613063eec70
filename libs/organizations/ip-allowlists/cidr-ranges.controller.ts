import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { createRangeBody, toRange, toRangeChanges, updateRangeBody } from './ip-allowlists.body.js';
import { ChangeIpAllowlist } from './ip-allowlists.handler.js';
import { renderAllowedRange } from './ip-allowlists.document.js';
import { findAllowedRange, listAllowedRanges } from './ip-allowlists.view.js';

@Controller('api/v2')
export class CidrRangesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('cidr-range-lists/:id/relationships/cidr-ranges')
  async list(
    @Param('id') list: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const ranges = await listAllowedRanges(this.database, actor, list);
    return renderPage(slicePage(ranges, page).map(renderAllowedRange), page, ranges.length, request.publicUrl);
  }

  @Post('cidr-range-lists/:id/relationships/cidr-ranges')
  async create(@Param('id') list: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const range = toRange(parseBody(createRangeBody, body).data.attributes);
    const row = await this.bus.execute(new ChangeIpAllowlist('AddAllowedRange', { list, range, actor }));
    if (!row) throw notFound();
    return renderDocument(renderAllowedRange(row));
  }

  @Get('cidr-ranges/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderAllowedRange(await findAllowedRange(this.database, actor, id)));
  }

  @Patch('cidr-ranges/:id')
  async update(@Param('id') range: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toRangeChanges(parseBody(updateRangeBody, body));
    const row = await this.bus.execute(new ChangeIpAllowlist('UpdateAllowedRange', { range, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(renderAllowedRange(row));
  }

  @Delete('cidr-ranges/:id')
  @HttpCode(204)
  async destroy(@Param('id') range: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeIpAllowlist('RemoveAllowedRange', { range, actor }));
  }
}

import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, renderList, parseBody, resourceBody, type Document, type Resource } from '#api/json-api';
import { ChangeAuditFactSource } from './audit-fact-sources.handler.js';
import { findAuditFactSource, listAuditFactSources, type AuditFactSourceRow } from './audit-fact-sources.view.js';

export const createBody = resourceBody(
  'audit-fact-sources',
  z.object({ source: z.string(), description: z.string().nullable().default('') }),
);

const renderSource = ({ id, source, description, createdAt }: AuditFactSourceRow): Resource => ({
  id,
  type: 'audit-fact-sources',
  attributes: { source, description, 'created-at': createdAt },
  links: { self: `/api/v2/audit-fact-sources/${id}` },
});

@Controller('api/v2')
export class AuditFactSourcesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/audit-fact-sources')
  list(
    @Param('organization') name: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return renderList(request, (page) => listAuditFactSources(this.database, actor, name, page), renderSource);
  }

  @Post('organizations/:organization/audit-fact-sources')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { source, description } = parseBody(createBody, body).data.attributes;
    const input = { organization, source, description: description ?? '', actor };
    const row = await this.bus.execute(new ChangeAuditFactSource('RegisterAuditFactSource', input));
    return renderDocument(renderSource(row));
  }

  @Get('audit-fact-sources/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderSource(await findAuditFactSource(this.database, actor, id)));
  }

  @Delete('audit-fact-sources/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeAuditFactSource('RemoveAuditFactSource', { id, actor }));
  }
}

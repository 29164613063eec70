import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, RequireRecentSignIn, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { parseBody, renderDocument, renderList, type Document, type Resource } from '#api/json-api';
import { Database } from '#platform/postgres';
import { PUBLIC_URL } from '../workload-identities.options.js';
import { createBody, toSettings, updateBody } from './workload-identities.body.js';
import { ChangeWorkloadIdentity } from './workload-identities.handler.js';
import { renderWorkloadIdentity } from './workload-identities.document.js';
import { findWorkloadIdentity, listWorkloadIdentities, type WorkloadIdentityRow } from './workload-identities.view.js';
import { checkWorkloadIdentity } from './workload-identity.js';

@Controller('api/v2')
export class WorkloadIdentitiesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    @Inject(PUBLIC_URL) private readonly publicUrl: string,
  ) {}

  @Get('teams/:id/workload-identities')
  list(@Param('id') team: string, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const list = (page: Parameters<typeof listWorkloadIdentities>[3]) =>
      listWorkloadIdentities(this.database, actor, team, page);
    return renderList(request, list, (row) => this.render(row));
  }

  @Post('teams/:id/workload-identities')
  @RequireRecentSignIn()
  async create(@Param('id') team: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(createBody, body, checkWorkloadIdentity).data;
    const { name, issuer, claims } = attributes;
    const settings = { ...toSettings(attributes), name, issuer, claims };
    const row = await this.bus.execute(new ChangeWorkloadIdentity('CreateWorkloadIdentity', { team, settings, actor }));
    return renderDocument(this.render(row));
  }

  @Get('workload-identities/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(this.render(await findWorkloadIdentity(this.database, actor, id)));
  }

  @Patch('workload-identities/:id')
  @RequireRecentSignIn()
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toSettings(parseBody(updateBody, body, checkWorkloadIdentity).data.attributes);
    const row = await this.bus.execute(new ChangeWorkloadIdentity('UpdateWorkloadIdentity', { id, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(this.render(row));
  }

  @Delete('workload-identities/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeWorkloadIdentity('DeleteWorkloadIdentity', { id, actor }));
  }

  private render(row: WorkloadIdentityRow): Resource {
    return renderWorkloadIdentity(row, this.publicUrl);
  }
}

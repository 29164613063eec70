import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  renderDocument,
  renderPage,
  parsePage,
  parseBody,
  requireParameter,
  omitNullish,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { ChangeTeamWorkspace } from './team-workspaces.handler.js';
import { listTeamAccesses, findTeamAccess } from './team-access.view.js';
import { renderTeamWorkspace } from './team-access.document.js';
import { checkAttributes, createBody, toAccessFields, updateBody } from './team-workspaces.body.js';

@Controller('api/v2/team-workspaces')
export class TeamWorkspacesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  @ConfigureRoute({ filters: ['filter[workspace][id]'] })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = parsePage(query);
    const workspace = requireParameter(query, 'filter[workspace][id]');
    const rows = await listTeamAccesses(this.database, actor, 'workspace', workspace);
    return renderPage(slicePage(rows, page).map(renderTeamWorkspace), page, rows.length, request.publicUrl);
  }

  @Post()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes, relationships } = parseBody(createBody, body, checkAttributes).data;
    const terms = { access: attributes.access, fields: toAccessFields(attributes) };
    const input = { team: relationships.team.data.id, workspace: relationships.workspace.data.id, terms, actor };
    return renderDocument(
      renderTeamWorkspace(await this.bus.execute(new ChangeTeamWorkspace('AddTeamWorkspace', input))),
    );
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderTeamWorkspace(await findTeamAccess(this.database, actor, 'workspace', 'read', id)));
  }

  @Patch(':id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(updateBody, body, checkAttributes).data;
    const data = { ...omitNullish({ access: attributes.access }), fields: toAccessFields(attributes) };
    const row = await this.bus.execute(new ChangeTeamWorkspace('UpdateTeamWorkspace', { id, data, actor }));
    if (!row) throw notFound();
    return renderDocument(renderTeamWorkspace(row));
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTeamWorkspace('RemoveTeamWorkspace', { id, actor }));
  }
}

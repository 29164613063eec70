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
import { ChangeTeamProject } from './team-projects.handler.js';
import { listTeamAccesses, findTeamAccess } from './team-access.view.js';
import { renderTeamProject } from './team-access.document.js';
import { checkAttributes, createBody, toAccessFields, updateBody } from './team-projects.body.js';

@Controller('api/v2/team-projects')
export class TeamProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  @ConfigureRoute({ filters: ['filter[project][id]'] })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = parsePage(query);
    const project = requireParameter(query, 'filter[project][id]');
    const rows = await listTeamAccesses(this.database, actor, 'project', project);
    return renderPage(slicePage(rows, page).map(renderTeamProject), page, rows.length, request.publicUrl);
  }

  @Post()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes, relationships } = parseBody(createBody, body, checkAttributes).data;
    const terms = { access: attributes.access, fields: toAccessFields(attributes) };
    const input = { team: relationships.team.data.id, project: relationships.project.data.id, terms, actor };
    return renderDocument(renderTeamProject(await this.bus.execute(new ChangeTeamProject('AddTeamProject', input))));
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderTeamProject(await findTeamAccess(this.database, actor, 'project', 'read', id)));
  }

  @Patch(':id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(updateBody, body, checkAttributes).data;
    const data = { ...omitNullish({ access: attributes.access }), fields: toAccessFields(attributes) };
    const row = await this.bus.execute(new ChangeTeamProject('UpdateTeamProject', { id, data, actor }));
    if (!row) throw notFound();
    return renderDocument(renderTeamProject(row));
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTeamProject('RemoveTeamProject', { id, actor }));
  }
}

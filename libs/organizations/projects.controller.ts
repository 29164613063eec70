import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { notFound } from '#kernel';
import { document, includesOf, pageDocument, pageOf, parseBody, type Document, type Query as QueryOf } from '#json-api';
import { createBody, inputOf, updateBody } from './projects.body.js';
import { projectResource } from './projects.document.js';
import { filterOf } from './projects.filter.js';
import { CreateProject, ToProject } from './projects.handler.js';
import { listProjects, projectFor } from './projects.queries.js';

/** Projects have no bindings yet, so that there is nothing to include. */
const INCLUDES = ['effective_tag_bindings'] as const;

const includedIn = (query: QueryOf): readonly [] | undefined => (includesOf(query, INCLUDES) ? [] : undefined);

@Controller('api/v2')
export class ProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/projects')
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const included = includedIn(query);
    const page = pageOf(query);
    const { rows, total } = await listProjects(this.database, actor, name, page, filterOf(query));
    const data = rows.map((row) => projectResource(row, actor));
    return pageDocument(data, page, total, request.url, included);
  }

  @Post('organizations/:organization/projects')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const input = parseBody(createBody, body).data;
    const data = { ...inputOf(input), name: input.attributes.name };
    const command = { type: 'CreateProject', data } as const;
    return document(projectResource(await this.bus.execute(new CreateProject(organization, command, actor)), actor));
  }

  @Get('projects/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const included = includedIn(query);
    return document(projectResource(await projectFor(this.database, actor, 'read-project', id), actor), included);
  }

  @Patch('projects/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = inputOf(parseBody(updateBody, body).data);
    const command = { type: 'UpdateProject', data: { changes } } as const;
    const row = await this.bus.execute(new ToProject(id, command, actor));
    if (!row) throw notFound();
    return document(projectResource(row, actor));
  }

  @Delete('projects/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ToProject(id, { type: 'DeleteProject' }, actor));
  }
}

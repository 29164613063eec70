import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { notFound, sql } from '#kernel';
import {
  document,
  includesOf,
  pageDocument,
  pageOf,
  parseBody,
  readRelated,
  slowForLists,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { relatedProjectTagBindings } from '#tag-bindings';
import { boundBy, createBody, inputOf, updateBody } from './projects.body.js';
import { projectResource, type Includes } from './projects.document.js';
import { filterOf } from './projects.filter.js';
import { CreateProject, ToProject } from './projects.handler.js';
import { listProjects, projectFor, type ProjectRow } from './projects.queries.js';

const INCLUDES = ['effective_tag_bindings'] as const;

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
    const includes = includesOf(query, INCLUDES);
    const page = pageOf(query);
    const { rows, total } = await listProjects(this.database, actor, name, page, filterOf(query));
    const data = rows.map((row) => projectResource(row, actor, includes));
    return pageDocument(data, page, total, request.url, await this.included(rows, includes, actor));
  }

  @Post('organizations/:organization/projects')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const input = parseBody(createBody, body).data;
    const data = { ...inputOf(input), ...boundBy(input), name: input.attributes.name };
    const command = { type: 'CreateProject', data } as const;
    return document(projectResource(await this.bus.execute(new CreateProject(organization, command, actor)), actor));
  }

  @Get('projects/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const row = await projectFor(this.database, actor, 'read-project', id);
    return document(projectResource(row, actor, includes), await this.included([row], includes, actor));
  }

  @Patch('projects/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const input = parseBody(updateBody, body).data;
    const command = { type: 'UpdateProject', data: { changes: inputOf(input), ...boundBy(input) } } as const;
    const row = await this.bus.execute(new ToProject(id, command, actor));
    if (!row) throw notFound();
    return document(projectResource(row, actor));
  }

  @Delete('projects/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ToProject(id, { type: 'DeleteProject' }, actor));
  }

  /** In one statement more, where there is something to bring along. */
  private async included(
    rows: readonly ProjectRow[],
    includes: Includes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const ids = includes.has('effective_tag_bindings') ? rows.map(({ id }) => id) : [];
    const wanted = ids.length > 0 ? [relatedProjectTagBindings(sql`${ids}::text[]`, actor)] : [];
    return readRelated(this.database, wanted, slowForLists(actor, rows));
  }
}

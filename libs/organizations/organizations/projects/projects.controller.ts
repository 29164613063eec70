import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound, sql } from '#platform/kernel';
import {
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  parseBody,
  readRelated,
  getSlowReadCaller,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { selectRelatedProjectTagBindings } from '#organizations/tag-bindings';
import { toProjectBindings, createBody, toProjectInput, updateBody } from './projects.body.js';
import { ChangeProject } from './projects.handler.js';
import { renderProject, type ProjectIncludes } from './projects.document.js';
import { parseProjectFilter, PROJECT_FILTERS } from './projects.filter.js';
import { listProjects, findProject, type ProjectRow } from './projects.queries.js';

export const PROJECT_INCLUDES = ['effective_tag_bindings'] as const;

@Controller('api/v2')
export class ProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/projects')
  @ConfigureRoute({ filters: PROJECT_FILTERS })
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, PROJECT_INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listProjects(this.database, actor, name, page, parseProjectFilter(query));
    const data = rows.map((row) => renderProject(row, actor, includes));
    return renderPage(data, page, total, request.publicUrl, await this.loadIncluded(rows, includes, actor));
  }

  @Post('organizations/:organization/projects')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const input = parseBody(createBody, body).data;
    const data = { ...toProjectInput(input), ...toProjectBindings(input), name: input.attributes.name };
    const row = await this.bus.execute(new ChangeProject('CreateProject', { organization, data, actor }));
    return renderDocument(renderProject(row, actor));
  }

  @Get('projects/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, PROJECT_INCLUDES);
    const row = await findProject(this.database, actor, 'read-project', id);
    return renderDocument(renderProject(row, actor, includes), await this.loadIncluded([row], includes, actor));
  }

  @Patch('projects/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const input = parseBody(updateBody, body).data;
    const data = { changes: toProjectInput(input), ...toProjectBindings(input) };
    const row = await this.bus.execute(new ChangeProject('UpdateProject', { id, data, actor }));
    if (!row) throw notFound();
    return renderDocument(renderProject(row, actor));
  }

  @Delete('projects/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeProject('DeleteProject', { id, actor }));
  }

  /** Returns the included resources, with one more statement if there are any. */
  private async loadIncluded(
    rows: readonly ProjectRow[],
    includes: ProjectIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const ids = includes.has('effective_tag_bindings') ? rows.map(({ id }) => id) : [];
    const related = ids.length > 0 ? [selectRelatedProjectTagBindings(sql`${ids}::text[]`, actor)] : [];
    return readRelated(this.database, related, getSlowReadCaller(actor, rows));
  }
}

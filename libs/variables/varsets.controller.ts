import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { notFound } from '#kernel';
import {
  document,
  identifiersBody,
  includesOf,
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  type Document,
  type Listed,
  type Page,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { changesOf, createBody, projectIn, targetsIn, updateBody, variablesIn } from './variable-sets.body.js';
import { NO_TARGETS, type Kind, type VariableSetCommand } from './variable-set.js';
import { variableSetResource } from './variable-sets.document.js';
import { CreateVariableSet, ToVariableSet } from './variable-sets.handler.js';
import {
  listReaching,
  listVariableSets,
  variableSetFor,
  type Reached,
  type VariableSetRow,
} from './variable-sets.queries.js';
import type { NewVariable } from './variable.js';
import { variableResource } from './variables.document.js';
import { variablesOfSets } from './variables.queries.js';

const INCLUDES = ['workspaces', 'projects', 'vars', 'stacks'] as const;
type Includes = ReadonlySet<(typeof INCLUDES)[number]> | null;

const named = (type: string, list: VariableSetRow['workspaces']): Resource[] =>
  list.map(({ id, name }) => ({ id, type, attributes: { name }, links: { self: `/api/v2/${type}/${id}` } }));

@Controller('api/v2')
export class VarsetsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/varsets')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const page = pageOf(query);
    const listed = await listVariableSets(this.database, actor, organization, page, parameter(query, 'q'));
    return this.page(listed, includes, page, request);
  }

  /** Under the second name pytfe asks for it. */
  @Get(['workspaces/:id/varsets', 'workspaces/:id/applicable-varsets'])
  listForWorkspace(
    @Param('id') workspace: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.listReaching({ workspace }, query, request, actor);
  }

  @Get('projects/:id/varsets')
  listForProject(
    @Param('id') project: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.listReaching({ project }, query, request, actor);
  }

  @Post('organizations/:organization/varsets')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const { attributes: given, relationships: related } = parseBody(createBody, body).data;
    const data = {
      name: given.name,
      description: given.description ?? null,
      global: given.global ?? false,
      priority: given.priority ?? false,
      project: projectIn(related),
      targets: { ...NO_TARGETS, ...targetsIn(related) },
    };
    const command = new CreateVariableSet(organization, data, variablesIn(related), actor);
    return this.render(await this.bus.execute(command), includes);
  }

  @Get('varsets/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    return this.render(await variableSetFor(this.database, actor, id), includes);
  }

  @Patch('varsets/:id')
  async update(
    @Param('id') id: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const { attributes, relationships: related } = parseBody(updateBody, body).data;
    const data = { changes: changesOf(attributes), targets: targetsIn(related) };
    const command = { type: 'UpdateVariableSet', data } as const;
    return this.render(await this.tell(id, command, actor, variablesIn(related)), includes);
  }

  @Put('varsets/:id')
  replace(
    @Param('id') id: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.update(id, body, query, actor);
  }

  @Delete('varsets/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.tell(id, { type: 'DeleteVariableSet', data: {} }, actor);
  }

  @Post('varsets/:id/relationships/workspaces')
  @HttpCode(204)
  applyToWorkspaces(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'ApplyVariableSet', 'workspaces', body, actor);
  }

  @Delete('varsets/:id/relationships/workspaces')
  @HttpCode(204)
  withdrawFromWorkspaces(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'WithdrawVariableSet', 'workspaces', body, actor);
  }

  @Post('varsets/:id/relationships/projects')
  @HttpCode(204)
  applyToProjects(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'ApplyVariableSet', 'projects', body, actor);
  }

  @Delete('varsets/:id/relationships/projects')
  @HttpCode(204)
  withdrawFromProjects(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'WithdrawVariableSet', 'projects', body, actor);
  }

  private async target(
    id: string,
    type: 'ApplyVariableSet' | 'WithdrawVariableSet',
    kind: Kind,
    body: unknown,
    actor: Actor,
  ): Promise<void> {
    const ids = parseBody(identifiersBody(kind), body).data.map((one) => one.id);
    await this.tell(id, { type, data: { ...NO_TARGETS, [kind]: ids } }, actor);
  }

  private tell(
    id: string,
    command: Exclude<VariableSetCommand, { type: 'CreateVariableSet' }>,
    actor: Actor,
    variables: readonly NewVariable[] = [],
  ): Promise<VariableSetRow | null> {
    return this.bus.execute(new ToVariableSet(id, command, variables, actor));
  }

  private async listReaching(
    reached: Reached,
    query: QueryOf,
    request: FastifyRequest,
    actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const page = pageOf(query);
    return this.page(
      await listReaching(this.database, actor, reached, page, parameter(query, 'q')),
      includes,
      page,
      request,
    );
  }

  private async page(
    { rows, total }: Listed<VariableSetRow>,
    includes: Includes,
    page: Page,
    { url }: FastifyRequest,
  ): Promise<Document> {
    return pageDocument(rows.map(variableSetResource), page, total, url, await this.included(rows, includes));
  }

  private async render(row: VariableSetRow | null, includes: Includes): Promise<Document> {
    if (!row) throw notFound();
    return document(variableSetResource(row), await this.included([row], includes));
  }

  private async included(rows: readonly VariableSetRow[], includes: Includes): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const variables = includes.has('vars')
      ? await variablesOfSets(
          this.database,
          rows.map(({ id }) => id),
        )
      : [];
    return [
      ...(includes.has('workspaces') ? rows.flatMap((row) => named('workspaces', row.workspaces)) : []),
      ...(includes.has('projects') ? rows.flatMap((row) => named('projects', row.projects)) : []),
      ...variables.map(variableResource),
    ];
  }
}

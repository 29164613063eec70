import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { notFound, sql, type Sql } from '#kernel';
import {
  document,
  includesOf,
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  readRelated,
  related,
  type Document,
  type Query as QueryOf,
  type Related,
  type Resource,
} from '#json-api';
import { Reads } from '#reads';
import { relatedProjects } from '#organizations';
import { relatedWorkspaces } from '#workspaces';
import {
  changesOf,
  createBody,
  projectIn,
  targetBodies,
  targetsIn,
  updateBody,
  variablesIn,
} from './variable-sets.body.js';
import { checkVariableSet, NO_TARGETS, type Kind, type VariableSetCommand } from './variable-set.js';
import { variableSetResource } from './variable-sets.document.js';
import { CreateVariableSet, ToVariableSet } from './variable-sets.handler.js';
import {
  listReaching,
  listVariableSets,
  variableSetFor,
  type ListedSets,
  type Reached,
  type SetsAsked,
  type VariableSetRow,
} from './variable-sets.queries.js';
import type { VariableRead } from './reads.events.js';
import type { NewVariable } from './variable.js';
import { variableResource } from './variables.document.js';
import { variablesOfSets, type VariableRow } from './variables.queries.js';

/** A set may be created with its variables and with lists of the workspaces and projects that it applies to. */
const SET_BODY_BYTES = 2 * 1024 * 1024;

const INCLUDES = ['workspaces', 'projects', 'vars', 'stacks'] as const;
type Includes = ReadonlySet<(typeof INCLUDES)[number]> | null;

const askedIn = (query: QueryOf, includes: Includes): SetsAsked => ({
  page: pageOf(query),
  search: parameter(query, 'q'),
  withVariables: includes?.has('vars') ?? false,
});

@Controller('api/v2')
export class VarsetsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: Reads,
  ) {}

  @Get('organizations/:organization/varsets')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const asked = askedIn(query, includes);
    const listed = await listVariableSets(this.database, actor, organization, asked);
    return this.page(listed, includes, { asked, request, actor });
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
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const { attributes: given, relationships } = parseBody(createBody, body, checkVariableSet).data;
    const data = {
      name: given.name,
      description: given.description ?? null,
      global: given.global ?? false,
      priority: given.priority ?? false,
      project: projectIn(relationships),
      targets: { ...NO_TARGETS, ...targetsIn(relationships) },
    };
    const command = new CreateVariableSet(organization, data, variablesIn(relationships), actor);
    return this.render(await this.bus.execute(command), includes, actor);
  }

  @Get('varsets/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    return this.render(await variableSetFor(this.database, actor, id), includes, actor);
  }

  @Patch('varsets/:id')
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
  async update(
    @Param('id') id: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const { attributes, relationships } = parseBody(updateBody, body, checkVariableSet).data;
    const data = { changes: changesOf(attributes), targets: targetsIn(relationships) };
    const command = { type: 'UpdateVariableSet', data } as const;
    return this.render(await this.tell(id, command, actor, variablesIn(relationships)), includes, actor);
  }

  @Put('varsets/:id')
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
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
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
  @HttpCode(204)
  applyToWorkspaces(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'ApplyVariableSet', 'workspaces', body, actor);
  }

  @Delete('varsets/:id/relationships/workspaces')
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
  @HttpCode(204)
  withdrawFromWorkspaces(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'WithdrawVariableSet', 'workspaces', body, actor);
  }

  @Post('varsets/:id/relationships/projects')
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
  @HttpCode(204)
  applyToProjects(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.target(id, 'ApplyVariableSet', 'projects', body, actor);
  }

  @Delete('varsets/:id/relationships/projects')
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
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
    const ids = parseBody(targetBodies[kind], body).data.map((one) => one.id);
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
    const asked = askedIn(query, includes);
    const listed = await listReaching(this.database, actor, reached, asked);
    return this.page(listed, includes, { asked, request, actor });
  }

  private async page(
    { rows, total, pageSize }: ListedSets,
    includes: Includes,
    { asked, request, actor }: { readonly asked: SetsAsked; readonly request: FastifyRequest; readonly actor: Actor },
  ): Promise<Document> {
    const page = { ...asked.page, size: pageSize };
    const included = await this.included(rows, includes, actor);
    return pageDocument(rows.map(variableSetResource), page, total, request.url, included);
  }

  private async render(row: VariableSetRow | null, includes: Includes, actor: Actor): Promise<Document> {
    if (!row) throw notFound();
    return document(variableSetResource(row), await this.included([row], includes, actor));
  }

  /** What the includes ask for, in one more statement at the most. */
  private async included(
    rows: readonly VariableSetRow[],
    includes: Includes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    if (rows.length === 0) return [];
    const idsOf = (of: (row: VariableSetRow) => readonly string[]): Sql =>
      sql`${[...new Set(rows.flatMap(of))]}::text[]`;
    const wanted = [
      ...(includes.has('workspaces')
        ? [
            relatedWorkspaces(
              idsOf(({ workspaces }) => workspaces),
              actor,
            ),
          ]
        : []),
      ...(includes.has('projects')
        ? [
            relatedProjects(
              idsOf(({ projects }) => projects),
              actor,
            ),
          ]
        : []),
      ...(includes.has('vars') ? [this.variablesOf(rows, actor)] : []),
    ];
    // A set reaches any number of workspaces.
    return readRelated(this.database, wanted, actor);
  }

  /** Whoever is shown a set with its variables has read the list of them. */
  private variablesOf(sets: readonly VariableSetRow[], actor: Actor): Related {
    return related<VariableRow>(variablesOfSets(sets.map(({ id }) => id)), async (found) => {
      const listed = sets.map(
        ({ id, variables }) => ({ owner: { type: 'varsets', id }, count: variables.length }) as const,
      );
      const organization = sets[0]?.organization ?? null;
      await this.reads.record<VariableRead>(
        actor,
        organization,
        ...listed.map((data) => ({ type: 'VariablesListed', data }) as const),
      );
      return found.map(variableResource);
    });
  }
}

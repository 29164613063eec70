import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound, sql, type Sql } from '#platform/kernel';
import {
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  readRelated,
  defineRelated,
  type Document,
  type QueryParameters as QueryOf,
  type RelatedResources,
  type Resource,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { selectRelatedProjects } from '#organizations/organizations';
import { selectRelatedWorkspaces } from '#workspaces/workspaces';
import {
  toVariableSetChanges,
  createBody,
  toProjectId,
  targetBodies,
  toTargets,
  updateBody,
  toNewVariables,
} from './variable-sets.body.js';
import { checkVariableSet, NO_TARGETS, type VariableSetTargetKind } from './variable-set.js';
import { ChangeVariableSet } from './variable-sets.handler.js';
import { renderVariableSet } from './variable-sets.document.js';
import {
  listSetsReaching,
  listVariableSets,
  findVariableSet,
  type VariableSetListPage,
  type ReachTarget,
  type VariableSetListRequest,
  type VariableSetRow,
} from './variable-sets.queries.js';
import type { VariableRead } from '../reads.events.js';
import { renderVariable } from '../variables/variables.document.js';
import { selectVariablesOfSets, type VariableRow } from '../variables/variables.queries.js';

/** The body can contain variables and lists of workspaces and projects. */
const SET_BODY_BYTES = 2 * 1024 * 1024;

export const INCLUDES = ['workspaces', 'projects', 'vars', 'stacks'] as const;
type VariableSetIncludes = ReadonlySet<(typeof INCLUDES)[number]> | null;

const parseListRequest = (query: QueryOf, includes: VariableSetIncludes): VariableSetListRequest => ({
  page: parsePage(query),
  search: getParameter(query, 'q'),
  withVariables: includes?.has('vars') ?? false,
});

@Controller('api/v2')
export class VarsetsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('organizations/:organization/varsets')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const listRequest = parseListRequest(query, includes);
    const listed = await listVariableSets(this.database, actor, organization, listRequest);
    return this.page(listed, includes, { listRequest, request, actor });
  }

  /** pytfe uses the second path. */
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
    const includes = parseInclude(query, INCLUDES);
    const { attributes: values, relationships } = parseBody(createBody, body, checkVariableSet).data;
    const data = {
      name: values.name,
      description: values.description ?? null,
      global: values.global ?? false,
      priority: values.priority ?? false,
      project: toProjectId(relationships),
      targets: { ...NO_TARGETS, ...toTargets(relationships) },
    };
    const input = { organization, data, variables: toNewVariables(relationships), actor };
    const row = await this.bus.execute(new ChangeVariableSet('CreateVariableSet', input));
    return this.render(row, includes, actor);
  }

  @Get('varsets/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    return this.render(await findVariableSet(this.database, actor, id), includes, actor);
  }

  @Patch('varsets/:id')
  @ConfigureRoute({ bodyLimit: SET_BODY_BYTES })
  async update(
    @Param('id') id: string,
    @Body() body: unknown,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const { attributes, relationships } = parseBody(updateBody, body, checkVariableSet).data;
    const data = { changes: toVariableSetChanges(attributes), targets: toTargets(relationships) };
    const input = { id, data, variables: toNewVariables(relationships), actor };
    const row = await this.bus.execute(new ChangeVariableSet('UpdateVariableSet', input));
    return this.render(row, includes, actor);
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
    await this.bus.execute(new ChangeVariableSet('DeleteVariableSet', { id, actor }));
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
    kind: VariableSetTargetKind,
    body: unknown,
    actor: Actor,
  ): Promise<void> {
    const ids = parseBody(targetBodies[kind], body).data.map((one) => one.id);
    await this.bus.execute(new ChangeVariableSet(type, { id, targets: { ...NO_TARGETS, [kind]: ids }, actor }));
  }

  private async listReaching(
    reached: ReachTarget,
    query: QueryOf,
    request: FastifyRequest,
    actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const listRequest = parseListRequest(query, includes);
    const listed = await listSetsReaching(this.database, actor, reached, listRequest);
    return this.page(listed, includes, { listRequest, request, actor });
  }

  private async page(
    { rows, total, pageSize }: VariableSetListPage,
    includes: VariableSetIncludes,
    {
      listRequest,
      request,
      actor,
    }: { readonly listRequest: VariableSetListRequest; readonly request: FastifyRequest; readonly actor: Actor },
  ): Promise<Document> {
    const page = { ...listRequest.page, size: pageSize };
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(rows.map(renderVariableSet), page, total, request.publicUrl, included);
  }

  private async render(row: VariableSetRow | null, includes: VariableSetIncludes, actor: Actor): Promise<Document> {
    if (!row) throw notFound();
    return renderDocument(renderVariableSet(row), await this.loadIncluded([row], includes, actor));
  }

  /** Returns the included resources, with at most one more statement. */
  private async loadIncluded(
    rows: readonly VariableSetRow[],
    includes: VariableSetIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    if (rows.length === 0) return [];
    const idsOf = (of: (row: VariableSetRow) => readonly string[]): Sql =>
      sql`${[...new Set(rows.flatMap(of))]}::text[]`;
    const related = [
      ...(includes.has('workspaces')
        ? [
            selectRelatedWorkspaces(
              idsOf(({ workspaces }) => workspaces),
              actor,
            ),
          ]
        : []),
      ...(includes.has('projects')
        ? [
            selectRelatedProjects(
              idsOf(({ projects }) => projects),
              actor,
            ),
          ]
        : []),
      ...(includes.has('vars') ? [this.variablesOf(rows, actor)] : []),
    ];
    // Always a slow read, because a set can apply to any number of workspaces.
    return readRelated(this.database, related, actor);
  }

  /** Returns the variables of the sets, and records that the caller has read these lists. */
  private variablesOf(sets: readonly VariableSetRow[], actor: Actor): RelatedResources {
    return defineRelated<VariableRow>(selectVariablesOfSets(sets.map(({ id }) => id)), async (rows) => {
      const listed = sets.map(
        ({ id, variables }) => ({ owner: { type: 'varsets', id }, count: variables.length }) as const,
      );
      const organization = sets[0]?.organization ?? null;
      await this.reads.record<VariableRead>(
        actor,
        organization,
        ...listed.map((data) => ({ type: 'VariablesListed', data }) as const),
      );
      return rows.map(renderVariable);
    });
  }
}

import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { badRequest, notFound } from '#platform/kernel';
import {
  renderDocument,
  renderPage,
  parsePage,
  fitPageSize,
  getParameter,
  parseBody,
  slicePage,
  parseToOne,
  type Document,
  type PageRequest,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import type { VariableRead } from '../reads.events.js';
import { toVariableChanges, createAnywhereBody, createBody, updateBody } from './variables.body.js';
import { renderVariable } from './variables.document.js';
import { ChangeVariable } from './variables.handler.js';
import {
  listEffectiveVariables,
  listVariables,
  findVariable,
  type OwnerInOrganization,
  type OwnerTarget,
  type VariableRow,
} from './variables.queries.js';
import { checkVariable, type NewVariable } from './variable.js';

/** Returns null if the request has no page parameters: clients without paging then get the whole list. */
const parseOptionalPage = (query: QueryOf): PageRequest | null =>
  getParameter(query, 'page[number]') || getParameter(query, 'page[size]') ? parsePage(query) : null;

const createSinglePage = (total: number): PageRequest => ({ number: 1, size: Math.max(total, 1) });

/** A value has at most 256 KiB, and JSON may need two bytes for each of its characters. */
const VARIABLE_BODY_BYTES = 1024 * 1024;

/** The maximum number of a workspace's own variables, which clients read in one request. */
const MAX_VARIABLES_PER_PAGE = 1_000;

const FILTERS = ['filter[organization][name]', 'filter[workspace][name]'] as const;

/** Returns the workspace that the query of an older route names, or null. */
const parseWorkspaceTarget = (query: QueryOf): OwnerTarget | null => {
  const [organization, name] = FILTERS.map((filter) => getParameter(query, filter) || undefined);
  if (organization === undefined && name === undefined) return null;
  if (organization === undefined || name === undefined) {
    throw badRequest(`${FILTERS.join(' and ')} go together`, organization === undefined ? FILTERS[0] : FILTERS[1]);
  }
  return { organization, name };
};

const OVERRIDDEN = 'filter[overridden]';

/** Returns whether a list also has the variables that others override. `true` is the only value. */
const parseOverridden = (query: QueryOf): boolean => {
  const text = getParameter(query, OVERRIDDEN);
  if (!text || text === 'true') return text === 'true';
  throw badRequest(`${OVERRIDDEN}: must be true, got "${text}"`, OVERRIDDEN);
};

@Controller('api/v2')
export class VarsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('workspaces/:id/vars')
  listOfWorkspace(
    @Param('id') workspace: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ workspace }, query, request, actor);
  }

  @Post('workspaces/:id/vars')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  createInWorkspace(
    @Param('id') workspace: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.create({ workspace }, parseBody(createBody, body, checkVariable).data.attributes, actor);
  }

  @Get('workspaces/:id/vars/:variable')
  showOfWorkspace(
    @Param('id') workspace: string,
    @Param('variable') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.show({ workspace }, id, actor);
  }

  @Patch('workspaces/:id/vars/:variable')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  updateOfWorkspace(
    @Param('id') workspace: string,
    @Param('variable') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.update({ workspace }, id, body, actor);
  }

  @Delete('workspaces/:id/vars/:variable')
  @HttpCode(204)
  destroyOfWorkspace(
    @Param('id') workspace: string,
    @Param('variable') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.destroy({ workspace }, id, actor);
  }

  /** Lists the effective variables of a workspace, from its own variables and those of sets. */
  @Get('workspaces/:id/all-vars')
  @ConfigureRoute({ filters: [OVERRIDDEN] })
  async listEffective(
    @Param('id') workspace: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { variables: all, ...owned } = await listEffectiveVariables(this.database, actor, workspace, {
      withOverridden: parseOverridden(query),
    });
    const requestedPage = parseOptionalPage(query) ?? createSinglePage(all.length);
    // Each set can fill a page on its own, so the page of many sets ends early.
    const lengths = all.map(({ value }) => Buffer.byteLength(value ?? ''));
    const page = { ...requestedPage, size: fitPageSize(lengths, Math.min(requestedPage.size, MAX_VARIABLES_PER_PAGE)) };
    const rows = slicePage(all, page);
    await this.recordList(owned, rows.length, actor);
    return renderPage(rows.map(renderVariable), page, all.length, request.publicUrl);
  }

  @Get('vars')
  @ConfigureRoute({ filters: ['filter[organization][name]', 'filter[workspace][name]'] })
  listAnywhere(
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const target = parseWorkspaceTarget(query);
    if (!target) throw badRequest(`${FILTERS.join(' and ')} are required`, FILTERS[0]);
    return this.list(target, query, request, actor);
  }

  @Post('vars')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  createAnywhere(@Body() body: unknown, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const { data, filter } = parseBody(createAnywhereBody, body, checkVariable);
    const workspace = parseToOne(data.relationships?.workspace);
    const byNames = filter
      ? { organization: filter.organization.name, name: filter.workspace.name }
      : parseWorkspaceTarget(query);
    const target = workspace ? { workspace } : byNames;
    if (!target) throw badRequest('The workspace must be named, by a relationship or a filter');
    return this.create(target, data.attributes, actor);
  }

  @Patch('vars/:id')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  updateAnywhere(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.update({ workspaceOf: id }, id, body, actor);
  }

  @Delete('vars/:id')
  @HttpCode(204)
  destroyAnywhere(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.destroy({ workspaceOf: id }, id, actor);
  }

  @Get('varsets/:id/relationships/vars')
  listOfVariableSet(
    @Param('id') variableSet: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ variableSet }, query, request, actor);
  }

  @Post('varsets/:id/relationships/vars')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  createInVariableSet(
    @Param('id') variableSet: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.create({ variableSet }, parseBody(createBody, body, checkVariable).data.attributes, actor);
  }

  @Get('varsets/:id/relationships/vars/:variable')
  showOfVariableSet(
    @Param('id') variableSet: string,
    @Param('variable') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.show({ variableSet }, id, actor);
  }

  @Patch('varsets/:id/relationships/vars/:variable')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  updateOfVariableSet(
    @Param('id') variableSet: string,
    @Param('variable') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.update({ variableSet }, id, body, actor);
  }

  @Delete('varsets/:id/relationships/vars/:variable')
  @HttpCode(204)
  destroyOfVariableSet(
    @Param('id') variableSet: string,
    @Param('variable') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.destroy({ variableSet }, id, actor);
  }

  private async list(target: OwnerTarget, query: QueryOf, request: FastifyRequest, actor: Actor): Promise<Document> {
    const page = parseOptionalPage(query);
    const { rows, total, ...owned } = await listVariables(this.database, actor, target, page);
    await this.recordList(owned, rows.length, actor);
    return renderPage(rows.map(renderVariable), page ?? createSinglePage(total), total, request.publicUrl);
  }

  private async create(target: OwnerTarget, data: NewVariable, actor: Actor): Promise<Document> {
    return this.render(await this.bus.execute(new ChangeVariable('CreateVariable', { target, data, actor })));
  }

  private async show(target: OwnerTarget, id: string, actor: Actor): Promise<Document> {
    const row = await findVariable(this.database, actor, target, id);
    const data = { variable: id, owner: { type: row.type, id: row.owner }, key: row.key, category: row.category };
    await this.reads.record<VariableRead>(actor, row.organization, { type: 'VariableShown', data });
    return this.render(row);
  }

  private async update(target: OwnerTarget, id: string, body: unknown, actor: Actor): Promise<Document> {
    const changes = toVariableChanges(parseBody(updateBody, body, checkVariable).data.attributes);
    const row = await this.bus.execute(new ChangeVariable('UpdateVariable', { target, id, changes, actor }));
    return this.render(row);
  }

  private async destroy(target: OwnerTarget, id: string, actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeVariable('DeleteVariable', { target, id, actor }));
  }

  private recordList({ organization, owner }: OwnerInOrganization, count: number, actor: Actor): Promise<void> {
    return this.reads.record<VariableRead>(actor, organization, { type: 'VariablesListed', data: { owner, count } });
  }

  private render(row: VariableRow | null): Document {
    if (!row) throw notFound();
    return renderDocument(renderVariable(row));
  }
}

import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { badRequest, notFound } from '#kernel';
import {
  document,
  pageDocument,
  pageOf,
  pageWithin,
  parameter,
  parseBody,
  shownOf,
  toOneOf,
  type Document,
  type Page,
  type Query as QueryOf,
} from '#json-api';
import { Reads } from '#reads';
import type { VariableRead } from './reads.events.js';
import { changesOf, createAnywhereBody, createBody, updateBody } from './variables.body.js';
import { variableResource } from './variables.document.js';
import { CreateVariable, ToVariable } from './variables.handler.js';
import {
  effectiveVariables,
  listVariables,
  variableFor,
  type Owned,
  type OwnerTarget,
  type VariableRow,
} from './variables.queries.js';
import { checkVariable, type NewVariable } from './variable.js';

/** Clients that know no pages of these lists get all of them at once; null where no page is asked for. */
const askedPage = (query: QueryOf): Page | null =>
  parameter(query, 'page[number]') || parameter(query, 'page[size]') ? pageOf(query) : null;

const wholePage = (total: number): Page => ({ number: 1, size: Math.max(total, 1) });

/** A value has at most 256 KiB, and JSON may need two bytes for each of its characters. */
const VARIABLE_BODY_BYTES = 1024 * 1024;

/** As many as a workspace has of its own, which clients read in one request. */
const MOST_AT_ONCE = 1_000;

const FILTERS = ['filter[organization][name]', 'filter[workspace][name]'] as const;

/** The workspace that the older routes name in their query; null where they name none. */
const filteredBy = (query: QueryOf): OwnerTarget | null => {
  const [organization, name] = FILTERS.map((filter) => parameter(query, filter) || undefined);
  if (organization === undefined && name === undefined) return null;
  if (organization === undefined || name === undefined) {
    throw badRequest(`${FILTERS.join(' and ')} go together`, organization === undefined ? FILTERS[0] : FILTERS[1]);
  }
  return { organization, name };
};

@Controller('api/v2')
export class VarsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: Reads,
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

  /** Its own and those of sets, without what stronger ones overwrite. */
  @Get('workspaces/:id/all-vars')
  async effective(
    @Param('id') workspace: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { variables: all, ...owned } = await effectiveVariables(this.database, actor, workspace);
    const asked = askedPage(query) ?? wholePage(all.length);
    // Each set may have as much as one page: a list of many sets ends early.
    const lengths = all.map(({ value }) => Buffer.byteLength(value ?? ''));
    const page = { ...asked, size: pageWithin(lengths, Math.min(asked.size, MOST_AT_ONCE)) };
    const shown = shownOf(all, page);
    await this.recordList(owned, shown.length, actor);
    return pageDocument(shown.map(variableResource), page, all.length, request.url);
  }

  @Get('vars')
  listAnywhere(
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const target = filteredBy(query);
    if (!target) throw badRequest(`${FILTERS.join(' and ')} are required`, FILTERS[0]);
    return this.list(target, query, request, actor);
  }

  @Post('vars')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  createAnywhere(@Body() body: unknown, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const { data, filter } = parseBody(createAnywhereBody, body, checkVariable);
    const workspace = toOneOf(data.relationships?.workspace);
    const byNames = filter
      ? { organization: filter.organization.name, name: filter.workspace.name }
      : filteredBy(query);
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
  listOfSet(
    @Param('id') variableSet: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ variableSet }, query, request, actor);
  }

  @Post('varsets/:id/relationships/vars')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  createInSet(
    @Param('id') variableSet: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.create({ variableSet }, parseBody(createBody, body, checkVariable).data.attributes, actor);
  }

  @Get('varsets/:id/relationships/vars/:variable')
  showOfSet(
    @Param('id') variableSet: string,
    @Param('variable') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.show({ variableSet }, id, actor);
  }

  @Patch('varsets/:id/relationships/vars/:variable')
  @ConfigureRoute({ bodyLimit: VARIABLE_BODY_BYTES })
  updateOfSet(
    @Param('id') variableSet: string,
    @Param('variable') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.update({ variableSet }, id, body, actor);
  }

  @Delete('varsets/:id/relationships/vars/:variable')
  @HttpCode(204)
  destroyOfSet(
    @Param('id') variableSet: string,
    @Param('variable') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.destroy({ variableSet }, id, actor);
  }

  private async list(target: OwnerTarget, query: QueryOf, request: FastifyRequest, actor: Actor): Promise<Document> {
    const page = askedPage(query);
    const { rows, total, ...owned } = await listVariables(this.database, actor, target, page);
    await this.recordList(owned, rows.length, actor);
    return pageDocument(rows.map(variableResource), page ?? wholePage(total), total, request.url);
  }

  private async create(target: OwnerTarget, data: NewVariable, actor: Actor): Promise<Document> {
    return this.render(await this.bus.execute(new CreateVariable(target, data, actor)));
  }

  private async show(target: OwnerTarget, id: string, actor: Actor): Promise<Document> {
    const row = await variableFor(this.database, actor, target, id);
    const shown = { variable: id, owner: { type: row.type, id: row.owner }, key: row.key, category: row.category };
    await this.reads.record<VariableRead>(actor, row.organization, { type: 'VariableShown', data: shown });
    return this.render(row);
  }

  private async update(target: OwnerTarget, id: string, body: unknown, actor: Actor): Promise<Document> {
    const changes = changesOf(parseBody(updateBody, body, checkVariable).data.attributes);
    return this.render(
      await this.bus.execute(new ToVariable(target, id, { type: 'UpdateVariable', data: { changes } }, actor)),
    );
  }

  private async destroy(target: OwnerTarget, id: string, actor: Actor): Promise<void> {
    await this.bus.execute(new ToVariable(target, id, { type: 'DeleteVariable', data: {} }, actor));
  }

  private recordList({ organization, owner }: Owned, count: number, actor: Actor): Promise<void> {
    return this.reads.record<VariableRead>(actor, organization, { type: 'VariablesListed', data: { owner, count } });
  }

  private render(row: VariableRow | null): Document {
    if (!row) throw notFound();
    return document(variableResource(row));
  }
}

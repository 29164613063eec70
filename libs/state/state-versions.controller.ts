import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { badRequest, notFound } from '#kernel';
import { CurrentActor, may, type Actor } from '#access';
import { Database } from '#event-store';
import {
  document,
  includesOf,
  pageDocument,
  pageOf,
  parameter,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { newStateVersion } from './state-versions.body.js';
import { creatorResource, outputResource, stateVersionResource } from './state-versions.document.js';
import { AddStateVersion } from './state-versions.handler.js';
import {
  currentStateVersion,
  listStateVersions,
  stateVersionFor,
  type StateVersionFilter,
  type StateVersionRow,
} from './state-versions.queries.js';
import { StateFiles } from './state.files.js';
import { StateLinks } from './state.links.js';

/** Runs are not kept yet: what belongs to them is known and brings nothing. */
const INCLUDES = ['outputs', 'created_by', 'run', 'run.created_by', 'run.configuration_version'] as const;

type Includes = ReadonlySet<(typeof INCLUDES)[number]>;

/** A state comes along in Base64, a third longer than it is. */
const INLINE_LIMIT = 256 * 1024 * 1024;

const required = (query: QueryOf, name: string): string => {
  const value = parameter(query, name);
  if (!value) throw badRequest(`${name} is required`, name);
  return value;
};

const filterOf = (query: QueryOf): StateVersionFilter => ({
  organization: required(query, 'filter[organization][name]'),
  workspace: required(query, 'filter[workspace][name]'),
  status: parameter(query, 'filter[status]'),
});

@Controller('api/v2')
export class StateVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly links: StateLinks,
  ) {}

  @Post('workspaces/:id/state-versions')
  @RouteConfig({ bodyLimit: INLINE_LIMIT })
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await this.bus.execute(new AddStateVersion(id, newStateVersion(body), actor));
    return document(await this.resource(row, actor));
  }

  @Get('state-versions')
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = pageOf(query);
    const { rows, total } = await listStateVersions(this.database, actor, filterOf(query), page);
    const data = await Promise.all(rows.map((row) => this.resource(row, actor)));
    return pageDocument(data, page, total, request.url);
  }

  @Get('state-versions/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    return this.render(await stateVersionFor(this.database, actor, 'read-state', id), includes, actor);
  }

  @Get('workspaces/:id/current-state-version')
  async current(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const row = await currentStateVersion(this.database, actor, 'read-state', id);
    if (!row) throw notFound();
    return this.render(row, includes, actor);
  }

  private async render(row: StateVersionRow, includes: Includes | null, actor: Actor): Promise<Document> {
    return document(await this.resource(row, actor), includes ? await this.included(row, includes) : undefined);
  }

  private async resource(row: StateVersionRow, actor: Actor): Promise<Resource> {
    return stateVersionResource(row, {
      links: this.links,
      hasJson: await this.files.has(row.id, 'json-state'),
      mayUpload: may(actor, 'create-state', row),
    });
  }

  /** Values and all: who sees a state version may download the whole state. */
  private async included(row: StateVersionRow, includes: Includes): Promise<Resource[]> {
    const creator = includes.has('created_by') ? [creatorResource(row)] : [];
    if (!includes.has('outputs') || row.outputs.length === 0) return creator;
    const values = await this.files.outputValues(row.id);
    return [...creator, ...row.outputs.map((output) => outputResource(output, values.get(output.name)))];
  }
}

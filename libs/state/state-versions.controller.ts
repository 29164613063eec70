import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#kernel';
import { CurrentActor, may, type Actor } from '#access';
import { Database } from '#event-store';
import {
  document,
  includesOf,
  pageDocument,
  pageOf,
  parameter,
  required,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { CurrentRuns } from '#workspaces/to-workspace';
import type { BackingDataCommand } from './backing-data.js';
import { ToBackingData } from './backing-data.handler.js';
import { newStateVersion, rolledBack } from './state-versions.body.js';
import { creatorResource, outputResource } from './state-versions.document.js';
import { StateVersionRenderer } from './state-versions.renderer.js';
import { AddStateVersion, RollBackState } from './state-versions.handler.js';
import {
  currentStateVersion,
  listStateVersions,
  stateVersionFor,
  type StateVersionFilter,
  type StateVersionRow,
} from './state-versions.queries.js';
import { StateFiles } from './state.files.js';

const INCLUDES = ['outputs', 'created_by', 'run', 'run.created_by', 'run.configuration_version'] as const;

type Includes = ReadonlySet<(typeof INCLUDES)[number]>;

/** A state comes along in Base64, a third longer than it is. */
const INLINE_LIMIT = 256 * 1024 * 1024;

const statusOf = (query: QueryOf): string | undefined => parameter(query, 'filter[status]');

const filterOf = (query: QueryOf): StateVersionFilter => ({
  of: {
    organization: required(query, 'filter[organization][name]'),
    name: required(query, 'filter[workspace][name]'),
  },
  status: statusOf(query),
});

@Controller('api/v2')
export class StateVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly renderer: StateVersionRenderer,
    private readonly runs: CurrentRuns,
  ) {}

  @Post('workspaces/:id/state-versions')
  @RouteConfig({ bodyLimit: INLINE_LIMIT })
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await this.bus.execute(new AddStateVersion(id, newStateVersion(body), actor));
    return document(await this.renderer.resource(row, actor));
  }

  /** Rolls back: the current state becomes what it was in the version that is named. */
  @Patch('workspaces/:id/state-versions')
  @HttpCode(201)
  async rollBack(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await this.bus.execute(new RollBackState(id, rolledBack(body), actor));
    return document(await this.renderer.resource(row, actor));
  }

  @Get('state-versions')
  list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    return this.page(filterOf(query), query, request, actor);
  }

  @Get('workspaces/:id/state-versions')
  listOfWorkspace(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.page({ of: { id }, status: statusOf(query) }, query, request, actor);
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

  @Post('state-versions/:id/actions/soft_delete_backing_data')
  @HttpCode(200)
  softDelete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.toBackingData(id, 'SoftDeleteData', actor);
  }

  @Post('state-versions/:id/actions/restore_backing_data')
  @HttpCode(200)
  restore(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.toBackingData(id, 'RestoreData', actor);
  }

  @Post('state-versions/:id/actions/permanently_delete_backing_data')
  @HttpCode(200)
  deletePermanently(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.toBackingData(id, 'DeleteDataPermanently', actor);
  }

  private async toBackingData(id: string, type: BackingDataCommand['type'], actor: Actor): Promise<Document> {
    const row = await this.bus.execute(new ToBackingData(id, type, actor));
    if (!row) throw notFound();
    return document(await this.renderer.resource(row, actor));
  }

  private async page(
    filter: StateVersionFilter,
    query: QueryOf,
    request: FastifyRequest,
    actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const page = pageOf(query);
    const { rows, total } = await listStateVersions(this.database, actor, filter, page);
    const data = await Promise.all(rows.map((row) => this.renderer.resource(row, actor)));
    const included: Resource[] = [];
    // One after the other: each file is read as a whole.
    for (const row of rows) included.push(...(includes ? await this.included(row, includes, actor) : []));
    return pageDocument(data, page, total, request.url, includes ? included : undefined);
  }

  private async render(row: StateVersionRow, includes: Includes | null, actor: Actor): Promise<Document> {
    return document(
      await this.renderer.resource(row, actor),
      includes ? await this.included(row, includes, actor) : undefined,
    );
  }

  /** Values and all: who sees a state version may download the whole state. */
  private async included(row: StateVersionRow, includes: Includes, actor: Actor): Promise<Resource[]> {
    return [
      ...(includes.has('created_by') ? [creatorResource(row)] : []),
      ...(await this.runOf(row, includes, actor)),
      ...(includes.has('outputs') ? await this.outputsOf(row) : []),
    ];
  }

  private async outputsOf({ id, outputs }: StateVersionRow): Promise<Resource[]> {
    if (outputs.length === 0) return [];
    const values = await this.files.outputValues(id);
    return outputs.map((output) => outputResource(output, values.get(output.name)));
  }

  private async runOf(row: StateVersionRow, includes: Includes, actor: Actor): Promise<readonly Resource[]> {
    const asked = [...includes].filter((name) => name === 'run' || name.startsWith('run.'));
    if (asked.length === 0 || row.run === null || !may(actor, 'read-runs', row)) return [];
    return this.runs.included([row.run], new Set(asked.map((name) => name.slice('run.'.length))), actor);
  }
}

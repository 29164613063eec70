import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  renderPage,
  parsePage,
  getParameter,
  requireParameter,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { CurrentRuns } from '#workspaces/workspaces';
import type { BackingDataCommand } from '../backing-data/backing-data.js';
import { ChangeBackingData } from './backing-data.handler.js';
import type { StateRead } from '../reads.events.js';
import { parseRollback } from './state-versions.body.js';
import {
  loadStateVersionIncluded,
  parseStateVersionIncludes,
  type StateVersionIncludes,
} from './state-versions.include.js';
import { StateVersionRenderer } from './state-versions.renderer.js';
import {
  findCurrentStateVersion,
  listStateVersions,
  findStateVersion,
  type StateVersionFilter,
  type StateVersionRow,
} from './state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';
import { StateVersionReceiver } from '../uploads/state-versions.receiver.js';

const parseStatus = (query: QueryOf): string | undefined => getParameter(query, 'filter[status]');

const filterOf = (query: QueryOf): StateVersionFilter => ({
  of: {
    organization: requireParameter(query, 'filter[organization][name]'),
    name: requireParameter(query, 'filter[workspace][name]'),
  },
  status: parseStatus(query),
});

/** The seconds between two uploads of a state that changes while a run is applied: the least that terraform accepts. */
export const SNAPSHOT_INTERVAL_SECONDS = 20;

/**
 * Lets terraform upload the state while it applies a run, so that a run that is killed loses little. Others upload only at the end:
 * each snapshot of theirs would be another version of the state.
 */
const announceSnapshots = (reply: FastifyReply, { kind }: Actor): void => {
  if (kind === 'run') void reply.header('x-terraform-snapshot-interval', String(SNAPSHOT_INTERVAL_SECONDS));
};

@Controller('api/v2')
export class StateVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly receiver: StateVersionReceiver,
    private readonly database: Database,
    private readonly extracts: StateExtracts,
    private readonly renderer: StateVersionRenderer,
    private readonly runs: CurrentRuns,
    private readonly reads: ReadRecorder,
  ) {}

  @Post('workspaces/:id/state-versions')
  @ConfigureRoute({ rawBody: 'json' })
  async create(
    @Param('id') id: string,
    @Body() body: Readable | undefined,
    @Req() { headers }: FastifyRequest,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Document> {
    announceSnapshots(reply, actor);
    const announced = headers['content-length'] === undefined ? null : Number(headers['content-length']);
    const row = await this.receiver.create(id, body ?? Readable.from([]), announced, actor);
    return renderDocument(await this.renderer.resource(row, actor));
  }

  /** Rolls back: creates a new version with the state of the named version. */
  @Patch('workspaces/:id/state-versions')
  @HttpCode(201)
  async rollBack(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await this.receiver.rollBack(id, parseRollback(body), actor);
    return renderDocument(await this.renderer.resource(row, actor));
  }

  @Get('state-versions')
  @ConfigureRoute({ filters: ['filter[status]', 'filter[organization][name]', 'filter[workspace][name]'] })
  list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    return this.page(filterOf(query), query, request, actor);
  }

  @Get('workspaces/:id/state-versions')
  @ConfigureRoute({ filters: ['filter[status]'] })
  listOfWorkspace(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.page({ of: { id }, status: parseStatus(query) }, query, request, actor);
  }

  @Get('state-versions/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseStateVersionIncludes(query);
    return this.render(await findStateVersion(this.database, actor, 'read-state', id), includes, actor);
  }

  @Get('workspaces/:id/current-state-version')
  async current(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Document> {
    announceSnapshots(reply, actor);
    const includes = parseStateVersionIncludes(query);
    const row = await findCurrentStateVersion(this.database, actor, 'read-state', id);
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
    const row = await this.bus.execute(new ChangeBackingData(type, { stateVersion: id, actor }));
    if (!row) throw notFound();
    return renderDocument(await this.renderer.resource(row, actor));
  }

  private async page(
    filter: StateVersionFilter,
    query: QueryOf,
    request: FastifyRequest,
    actor: Actor,
  ): Promise<Document> {
    const includes = parseStateVersionIncludes(query);
    const page = parsePage(query);
    const { rows, total, workspace, organization } = await listStateVersions(this.database, actor, filter, page);
    const data = await Promise.all(rows.map((row) => this.renderer.resourceOnPage(row, actor)));
    const included = await this.included(rows, includes, actor);
    const listed = { workspace, count: rows.length };
    await this.reads.record<StateRead>(actor, organization, { type: 'StateVersionsListed', data: listed });
    if (includes?.has('outputs')) await this.renderer.record(rows, 'outputs', actor);
    return renderPage(data, page, total, request.publicUrl, included);
  }

  private async render(row: StateVersionRow, includes: StateVersionIncludes | null, actor: Actor): Promise<Document> {
    const included = await this.included([row], includes, actor);
    await this.renderer.record([row], includes?.has('outputs') ? 'outputs' : 'document', actor);
    return renderDocument(await this.renderer.resource(row, actor), included);
  }

  private async included(
    rows: readonly StateVersionRow[],
    includes: StateVersionIncludes | null,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    const { extracts, runs } = this;
    return includes ? loadStateVersionIncluded(this.database, rows, includes, { actor, extracts, runs }) : undefined;
  }
}

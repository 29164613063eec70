import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, renderPage, parsePage, type Document, type QueryParameters as QueryOf } from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { RunLogLinks } from './run-logs.links.js';
import { RunRenderer } from './runs.renderer.js';
import { parseActionComment, parseNewRun, parseProgress } from './runs.body.js';
import { parseRunFilter, RUN_FILTERS } from './runs.filter.js';
import { ChangeRun } from './runs.commands.js';
import { loadRunIncluded, parseRunIncludes, type RunIncludes } from './runs.include.js';
import {
  listOrganizationRuns,
  listPoolRuns,
  listRunQueue,
  listWorkspaceRuns,
  type ListedRuns,
  type RunPage,
} from './run-lists.queries.js';
import { findRun } from './runs.queries.js';

/** A run may have up to 500 variables. */
const RUN_BODY_BYTES = 2 * 1024 * 1024;

const runPageOf = (query: QueryOf, includes: RunIncludes | null): RunPage => ({
  ...parsePage(query),
  withComments: includes?.has('comments') ?? false,
});

@Controller('api/v2')
export class RunsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly renderer: RunRenderer,
    private readonly reads: ReadRecorder,
    private readonly logs: RunLogLinks,
  ) {}

  @Post('runs')
  @ConfigureRoute({ bodyLimit: RUN_BODY_BYTES })
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const source = actor.credential === 'session' ? 'tfe-ui' : 'tfe-api';
    const row = await this.bus.execute(new ChangeRun('CreateRun', { newRun: parseNewRun(body, source), actor }));
    return renderDocument(this.renderer.resource(row, actor));
  }

  @Get('runs/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseRunIncludes(query);
    const row = await findRun(this.database, actor, id);
    const included = includes
      ? await loadRunIncluded(this.database, [row], includes, { actor, reads: this.reads, logs: this.logs })
      : undefined;
    return renderDocument(this.renderer.resource(row, actor), included);
  }

  @Get('workspaces/:id/runs')
  @ConfigureRoute({ filters: RUN_FILTERS })
  async listOfWorkspace(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseRunIncludes(query);
    const page = await listWorkspaceRuns(this.database, actor, id, runPageOf(query, includes), this.filterOf(query));
    return this.page(page, includes, { query, request, actor });
  }

  @Get('organizations/:organization/runs')
  @ConfigureRoute({ filters: RUN_FILTERS })
  async listOfOrganization(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseRunIncludes(query);
    const page = await listOrganizationRuns(
      this.database,
      actor,
      organization,
      runPageOf(query, includes),
      this.filterOf(query),
    );
    return this.page(page, includes, { query, request, actor });
  }

  @Get('organizations/:organization/runs/queue')
  async listOfQueue(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseRunIncludes(query);
    const page = await listRunQueue(this.database, actor, organization, runPageOf(query, includes));
    return this.page(page, includes, { query, request, actor });
  }

  /** For executors: the runs that wait for the agents of this pool (docs/reference/executor-protocol.md). */
  @Get('agent-pools/:id/runs')
  async listOfPool(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseRunIncludes(query);
    const page = await listPoolRuns(this.database, actor, id, parsePage(query));
    return this.page(page, includes, { query, request, actor });
  }

  /** For executors: the report of their progress (docs/reference/executor-protocol.md). */
  @Post('runs/:id/progress')
  @HttpCode(200)
  async progress(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const input = { id, progress: parseProgress(body), actor };
    const row = await this.bus.execute(new ChangeRun('ReportProgress', input));
    return renderDocument(this.renderer.resource(row, actor));
  }

  @Post('runs/:id/actions/apply')
  @HttpCode(202)
  apply(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.act(id, 'ConfirmRun', body, actor);
  }

  @Post('runs/:id/actions/discard')
  @HttpCode(202)
  discard(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.act(id, 'DiscardRun', body, actor);
  }

  @Post('runs/:id/actions/cancel')
  @HttpCode(202)
  cancel(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.act(id, 'CancelRun', body, actor);
  }

  @Post('runs/:id/actions/force-cancel')
  @HttpCode(202)
  forceCancel(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.act(id, 'ForceCancelRun', body, actor);
  }

  @Post('runs/:id/actions/force-execute')
  @HttpCode(202)
  forceExecute(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.act(id, 'ForceExecuteRun', body, actor);
  }

  private async act(
    id: string,
    type: 'ConfirmRun' | 'DiscardRun' | 'CancelRun' | 'ForceCancelRun' | 'ForceExecuteRun',
    body: unknown,
    actor: Actor,
  ): Promise<void> {
    await this.bus.execute(new ChangeRun(type, { id, comment: parseActionComment(body), actor }));
  }

  private filterOf(query: QueryOf): ReturnType<typeof parseRunFilter> {
    return parseRunFilter(query, this.clock.now());
  }

  private async page(
    { rows, total, pageSize }: ListedRuns,
    includes: RunIncludes | null,
    { query, request, actor }: { readonly query: QueryOf; readonly request: FastifyRequest; readonly actor: Actor },
  ): Promise<Document> {
    const data = rows.map((row) => this.renderer.resource(row, actor));
    const included = includes
      ? await loadRunIncluded(this.database, rows, includes, { actor, reads: this.reads, logs: this.logs })
      : undefined;
    return renderPage(data, { ...parsePage(query), size: pageSize }, total, request.publicUrl, included);
  }
}

import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, requireSiteAdmin, type Actor } from '#api/access';
import {
  getListParameter,
  getParameter,
  getSlowReadCaller,
  parseInclude,
  parsePage,
  parseTimeParameter,
  readRelated,
  renderPage,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { selectRelatedOrganizations } from '#organizations/organizations';
import { sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { selectRelatedWorkspaces } from '#workspaces/workspaces';
import type { RunRow } from '../runs/runs.queries.js';
import { RunRenderer } from '../runs/runs.renderer.js';
import { parseActionComment } from '../runs/runs.body.js';
import { ChangeRun } from '../runs/runs.commands.js';
import { listAdministeredRuns, type SiteExecutorWork } from './admin-runs.queries.js';

/** The vendor's values. The owners of an organization are not in its document, so including them adds nothing. */
export const ADMIN_RUN_INCLUDES = ['workspace', 'workspace.organization', 'workspace.organization.owners'] as const;
type AdminRunIncludes = ReadonlySet<(typeof ADMIN_RUN_INCLUDES)[number]> | null;

const FILTERS = ['filter[status]', 'filter[from]', 'filter[to]'] as const;

const renderWork = ({ running, waiting, organizations }: SiteExecutorWork) => ({
  running,
  waiting,
  organizations: organizations.map(({ waitingSince, ...counts }) => ({ ...counts, 'waiting-since': waitingSince })),
});

/** The runs of all organizations, for administrators of the site. */
@Controller('api/v2/admin/runs')
export class AdminRunsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly renderer: RunRenderer,
  ) {}

  @Get()
  @ConfigureRoute({ filters: FILTERS })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, ADMIN_RUN_INCLUDES);
    const page = parsePage(query);
    const { rows, total, statusCounts, work } = await listAdministeredRuns(this.database, actor, page, {
      statuses: getListParameter(query, 'filter[status]'),
      from: parseTimeParameter(query, 'filter[from]'),
      to: parseTimeParameter(query, 'filter[to]'),
      search: getParameter(query, 'q'),
    });
    const data = rows.map((row) => this.renderer.resource(row, actor));
    const document = renderPage(data, page, total, request.publicUrl, await this.loadIncluded(rows, includes, actor));
    return {
      ...document,
      meta: { ...document.meta, 'status-counts': statusCounts, 'executor-work': renderWork(work) },
    };
  }

  /** For runs whose executor does not stop: without a request to stop before it, and without a waiting time. */
  @Post(':id/actions/force-cancel')
  @HttpCode(202)
  async forceCancel(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    await requireSiteAdmin(this.database, actor);
    await this.bus.execute(new ChangeRun('ForceCancelAnyRun', { id, comment: parseActionComment(body), actor }));
  }

  private async loadIncluded(
    rows: readonly RunRow[],
    includes: AdminRunIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const workspaces = sql`${[...new Set(rows.map(({ workspace }) => workspace))]}::text[]`;
    const organizations = sql`${[...new Set(rows.map(({ organization }) => organization))]}::text[]`;
    const isWithOrganizations = includes.has('workspace.organization') || includes.has('workspace.organization.owners');
    return readRelated(
      this.database,
      [
        selectRelatedWorkspaces(workspaces, actor),
        ...(isWithOrganizations ? [selectRelatedOrganizations(organizations, actor)] : []),
      ],
      getSlowReadCaller(actor, rows),
    );
  }
}

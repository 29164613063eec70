import { Controller, Delete, Get, HttpCode, Param, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, requireSiteAdmin, type Actor } from '#api/access';
import {
  getListParameter,
  getParameter,
  getSlowReadCaller,
  parseInclude,
  parsePage,
  parseSort,
  readRelated,
  renderDocument,
  renderPage,
  toOne,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { selectRelatedOrganizations } from '#organizations/organizations';
import { sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { CurrentRuns } from '../ports/current-runs.port.js';
import { ChangeWorkspace } from '../workspaces/workspaces.commands.js';
import {
  ADMIN_WORKSPACE_SORTS,
  findAdministeredWorkspace,
  listAdministeredWorkspaces,
  type AdministeredWorkspaceRow,
} from './admin-workspaces.queries.js';

/** The vendor's values. The owners of an organization are not in its document, so including them adds nothing. */
export const ADMIN_WORKSPACE_INCLUDES = ['organization', 'organization.owners', 'current_run'] as const;
type AdminWorkspaceIncludes = ReadonlySet<(typeof ADMIN_WORKSPACE_INCLUDES)[number]> | null;

const FILTERS = ['filter[current_run][status]'] as const;

const renderAdministeredWorkspace = (row: AdministeredWorkspaceRow): Resource => ({
  id: row.id,
  type: 'workspaces',
  attributes: {
    name: row.name,
    locked: row.locked,
    'vcs-repo': row.repository === null ? null : { identifier: row.repository },
  },
  relationships: {
    organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    'current-run': toOne('runs', row.currentRun, `/api/v2/runs/${row.currentRun ?? ''}`),
  },
  links: { self: `/api/v2/admin/workspaces/${row.id}` },
});

/** The workspaces of all organizations, for administrators of the site. */
@Controller('api/v2/admin/workspaces')
export class AdminWorkspacesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly runs: CurrentRuns,
  ) {}

  @Get()
  @ConfigureRoute({ filters: FILTERS })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, ADMIN_WORKSPACE_INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listAdministeredWorkspaces(this.database, actor, page, {
      search: getParameter(query, 'q'),
      currentRunStatuses: getListParameter(query, 'filter[current_run][status]'),
      ...parseSort(query, ADMIN_WORKSPACE_SORTS),
    });
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(rows.map(renderAdministeredWorkspace), page, total, request.publicUrl, included);
  }

  @Get(':id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, ADMIN_WORKSPACE_INCLUDES);
    const row = await findAdministeredWorkspace(this.database, actor, id);
    return renderDocument(renderAdministeredWorkspace(row), await this.loadIncluded([row], includes, actor));
  }

  /** Deletes the workspace even if it is locked or manages resources, as the vendor does. It can be recovered like any other. */
  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await requireSiteAdmin(this.database, actor);
    await this.bus.execute(new ChangeWorkspace('DeleteWorkspace', { target: { id }, data: { forced: true }, actor }));
  }

  private async loadIncluded(
    rows: readonly AdministeredWorkspaceRow[],
    includes: AdminWorkspaceIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const organizations = sql`${[...new Set(rows.map(({ organization }) => organization))]}::text[]`;
    const runs = sql`${rows.flatMap(({ currentRun }) => (currentRun === null ? [] : [currentRun]))}::text[]`;
    const isWithOrganizations = includes.has('organization') || includes.has('organization.owners');
    return readRelated(
      this.database,
      [
        ...(isWithOrganizations ? [selectRelatedOrganizations(organizations, actor)] : []),
        ...(includes.has('current_run') ? this.runs.related(runs, new Set(), actor) : []),
      ],
      getSlowReadCaller(actor, rows),
    );
  }
}

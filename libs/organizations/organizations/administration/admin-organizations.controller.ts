import { Body, Controller, Get, Param, Patch, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { sql } from '#platform/kernel';
import { selectRelatedUsers } from '#identity/people';
import { Database } from '#platform/postgres';
import {
  getParameter,
  getSlowReadCaller,
  parseBody,
  parseInclude,
  parsePage,
  readRelated,
  renderDocument,
  renderPage,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ChangeOrganization } from '../organizations/organizations.handler.js';
import {
  findAdministeredOrganization,
  listAdministeredOrganizations,
  type AdministeredOrganizationRow,
} from '../organizations/organizations.queries.js';
import { adminUpdateBody, toAdminChanges } from './admin-organizations.body.js';
import { renderAdministeredOrganization } from './admin-organizations.document.js';

export const ADMIN_ORGANIZATION_INCLUDES = ['owners'] as const;
type Includes = ReadonlySet<(typeof ADMIN_ORGANIZATION_INCLUDES)[number]> | null;

/** All organizations of the site, for its administrators. */
@Controller('api/v2/admin/organizations')
export class AdminOrganizationsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, ADMIN_ORGANIZATION_INCLUDES);
    const page = parsePage(query);
    const search = getParameter(query, 'q');
    const { rows, total } = await listAdministeredOrganizations(this.database, actor, page, search);
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(rows.map(renderAdministeredOrganization), page, total, request.publicUrl, included);
  }

  @Get(':organization')
  async show(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const row = await findAdministeredOrganization(this.database, actor, name);
    const includes = parseInclude(query, ADMIN_ORGANIZATION_INCLUDES);
    return renderDocument(renderAdministeredOrganization(row), await this.loadIncluded([row], includes, actor));
  }

  @Patch(':organization')
  async update(
    @Param('organization') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const changes = toAdminChanges(parseBody(adminUpdateBody, body).data);
    await this.bus.execute(new ChangeOrganization('UpdateAsSiteAdmin', { name, changes, actor }));
    return renderDocument(
      renderAdministeredOrganization(await findAdministeredOrganization(this.database, actor, name)),
    );
  }

  private async loadIncluded(
    rows: readonly AdministeredOrganizationRow[],
    includes: Includes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    if (!includes.has('owners')) return [];
    const owners = selectRelatedUsers(sql`${rows.flatMap((row) => row.owners)}::text[]`, actor);
    return readRelated(this.database, [owners], getSlowReadCaller(actor, rows));
  }
}

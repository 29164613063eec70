import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, can, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  getParameter,
  renderList,
  toOne,
  type Document,
  type PageRequest,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { listAccessRows, type AccessRow } from './access-rows.queries.js';

/** Renders a row with the id of its project or workspace. */
const renderAccessRow =
  (actor: Actor) =>
  (row: AccessRow): Resource => ({
    id: row.id,
    type: 'access-rows',
    attributes: {
      kind: row.kind,
      name: row.name,
      'project-name': row.projectName,
      accesses: row.accesses,
      permissions: {
        'can-manage-workspace-access': row.kind === 'workspaces' && can(actor, 'manage-workspace-access', row),
        'can-manage-project-access': can(actor, 'manage-project-access', row),
      },
    },
    relationships: {
      project: toOne('projects', row.project, `/api/v2/projects/${row.project}`),
      workspace: toOne('workspaces', row.kind === 'workspaces' ? row.id : null, `/api/v2/workspaces/${row.id}`),
    },
  });

@Controller('api/v2')
export class AccessRowsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/access-rows')
  @ConfigureRoute({ filters: ['filter[project][id]', 'filter[team][id]'] })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const filter = {
      project: getParameter(query, 'filter[project][id]'),
      team: getParameter(query, 'filter[team][id]'),
      search: getParameter(query, 'q'),
    };
    const list = (page: PageRequest) => listAccessRows(this.database, actor, organization, page, filter);
    return renderList(request, list, renderAccessRow(actor));
  }
}

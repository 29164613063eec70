import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderList,
  getParameter,
  toOne,
  type Document,
  type PageRequest,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { listTagComplianceGaps, type TagComplianceGapRow } from './tag-compliance-gaps.queries.js';

/** Renders a gap. Each workspace has at most one, with the workspace's id. */
const renderTagComplianceGap = (row: TagComplianceGapRow): Resource => ({
  id: row.id,
  type: 'tag-compliance-gaps',
  attributes: {
    'workspace-name': row.name,
    'project-name': row.projectName,
    'missing-keys': row.missingKeys,
  },
  relationships: {
    workspace: toOne('workspaces', row.id, `/api/v2/workspaces/${row.id}`),
    project: toOne('projects', row.project, `/api/v2/projects/${row.project}`),
  },
});

@Controller('api/v2')
export class TagComplianceGapsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/tag-compliance')
  @ConfigureRoute({ filters: ['filter[project][id]', 'filter[key]', 'filter[proposed-key]'] })
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const filter = {
      project: getParameter(query, 'filter[project][id]'),
      key: getParameter(query, 'filter[key]'),
      proposedKey: getParameter(query, 'filter[proposed-key]') || undefined,
    };
    const list = (page: PageRequest) => listTagComplianceGaps(this.database, actor, name, page, filter);
    return renderList(request, list, renderTagComplianceGap);
  }
}

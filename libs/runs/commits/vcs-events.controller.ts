import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import {
  getListParameter,
  parseInclude,
  parsePage,
  parseTimeParameter,
  renderPage,
  toOne,
  type Document,
  type QueryParameters,
  type Resource,
} from '#api/json-api';
import { badRequest } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { listOauthClientsByIds, renderOauthClient } from '#vcs/connections';
import { listVcsEvents, VCS_EVENT_LEVELS, type VcsEventRow } from './vcs-events.queries.js';

const renderVcsEvent = (row: VcsEventRow): Resource => ({
  id: row.id,
  type: 'vcs-events',
  attributes: {
    'created-at': row.createdAt,
    level: row.level,
    message: row.message,
    'organization-id': row.organization,
    'suggested-action': row.suggestedAction,
  },
  relationships: {
    'oauth-client': toOne('oauth-clients', row.client, `/api/v2/oauth-clients/${row.client}`),
    workspace: toOne('workspaces', row.workspace),
  },
});

const parseLevels = (query: QueryParameters): readonly string[] | null => {
  const levels = getListParameter(query, 'filter[levels]');
  if (levels.length === 0) return null;
  const unknown = levels.find((level) => !VCS_EVENT_LEVELS.some((one) => one === level));
  if (unknown !== undefined)
    throw badRequest(`filter[levels]: must be ${VCS_EVENT_LEVELS.join(' or ')}, got "${unknown}"`, 'filter[levels]');
  return levels;
};

export const INCLUDES = ['oauth_client'] as const;

/** What became of commits and deliveries of Git hosts. */
@Controller('api/v2')
export class VcsEventsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/vcs-events')
  @ConfigureRoute({
    filters: ['filter[from]', 'filter[to]', 'filter[oauth_client_external_ids]', 'filter[levels]'],
  })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const clients = getListParameter(query, 'filter[oauth_client_external_ids]');
    const filter = {
      from: parseTimeParameter(query, 'filter[from]'),
      to: parseTimeParameter(query, 'filter[to]'),
      clients: clients.length === 0 ? null : clients,
      levels: parseLevels(query),
    };
    const includes = parseInclude(query, INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listVcsEvents(this.database, actor, organization, filter, page);
    const ids = [...new Set(rows.map(({ client }) => client))];
    const included = includes?.has('oauth_client') ? await listOauthClientsByIds(this.database, ids) : undefined;
    const resources = included?.map((row) => renderOauthClient(row, request.publicUrl));
    return renderPage(rows.map(renderVcsEvent), page, total, request.publicUrl, resources);
  }
}

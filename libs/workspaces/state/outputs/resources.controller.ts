import { createHash } from 'node:crypto';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderPage, parsePage, type Document, type QueryParameters as QueryOf, type Resource } from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { createStateReadEvent, type StateRead } from '../reads.events.js';
import { renderClientNames, type StateResource } from '../state-file/state-resources.js';
import { findCurrentStateVersion, type StateVersionRow } from '../state-versions/state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';

/** Returns an id that is stable for an address in a workspace. Resources have no stream that could provide an id. */
const deriveResourceId = (workspace: string, address: string): string =>
  `wsr-${createHash('sha256').update(`${workspace} ${address}`).digest('hex').slice(0, 16)}`;

const renderStateResource = (resource: StateResource, { id, workspace, createdAt }: StateVersionRow): Resource => ({
  id: deriveResourceId(workspace, resource.address),
  type: 'resources',
  attributes: {
    ...renderClientNames(resource),
    name: resource.name,
    'created-at': createdAt,
    'updated-at': createdAt,
    provider: resource.provider,
    'provider-type': resource.type,
    'modified-by-state-version-id': id,
    'name-index': resource.index,
  },
});

/**
 * Serves the resources of the current state. All times are those of the state version, because a state file does not
 * contain any.
 */
@Controller('api/v2')
export class ResourcesController {
  constructor(
    private readonly database: Database,
    private readonly extracts: StateExtracts,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('workspaces/:id/resources')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const current = await findCurrentStateVersion(this.database, actor, 'read-state', id);
    if (!current) return renderPage([], page, 0, request.publicUrl);
    const { resources, total } = await this.extracts.resources(current, (page.number - 1) * page.size, page.size);
    await this.reads.record<StateRead>(actor, current.organization, createStateReadEvent(current, 'resources'));
    const data = resources.map((resource) => renderStateResource(resource, current));
    return renderPage(data, page, total, request.publicUrl);
  }
}

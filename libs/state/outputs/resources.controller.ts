import { createHash } from 'node:crypto';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#postgres';
import { renderPage, parsePage, type Document, type QueryParameters as QueryOf, type Resource } from '#json-api';
import { ReadRecorder } from '#reads';
import { createStateReadEvent, type StateRead } from '../reads.events.js';
import { renderClientNames, type StateResource } from '../state-file/state-resources.js';
import { findCurrentStateVersion, type StateVersionRow } from '../state-versions/state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';

/** The same for an address as long as the workspace lives: resources have no stream of their own to get an id from. */
const deriveResourceId = (workspace: string, address: string): string =>
  `wsr-${createHash('sha256').update(`${workspace} ${address}`).digest('hex').slice(0, 16)}`;

const renderStateResource = (found: StateResource, { id, workspace, createdAt }: StateVersionRow): Resource => ({
  id: deriveResourceId(workspace, found.address),
  type: 'resources',
  attributes: {
    ...renderClientNames(found),
    name: found.name,
    'created-at': createdAt,
    'updated-at': createdAt,
    provider: found.provider,
    'provider-type': found.type,
    'modified-by-state-version-id': id,
    'name-index': found.index,
  },
});

/** What the current state manages. A state file does not tell since when, so all times are its own. */
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
    if (!current) return renderPage([], page, 0, request.url);
    const { resources, total } = await this.extracts.resources(current, (page.number - 1) * page.size, page.size);
    await this.reads.record<StateRead>(actor, current.organization, createStateReadEvent(current, 'resources'));
    const data = resources.map((found) => renderStateResource(found, current));
    return renderPage(data, page, total, request.url);
  }
}

import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, can, type Actor } from '#api/access';
import { EventStore } from '#storage/event-store';
import { getListParameter, renderPage, parsePage, type Document, type QueryParameters as QueryOf } from '#api/json-api';
import { toHistoryField, HIDDEN_FIELDS } from '../writing/history-fields.js';
import { waitForHistory } from '../writing/history.follower.js';
import type { WorkspaceScope } from './workspace-scope.queries.js';
import { renderWorkspaceChange } from './workspace-changes.document.js';
import { listChanges, findWorkspaceScope } from './workspace-changes.queries.js';

/** Maximum length of an agent token's description, which is the name of agents in the history. */
export const MAX_ACTOR_LENGTH = 1_000;

@Controller('api/v2')
export class WorkspaceChangesController {
  constructor(private readonly store: EventStore) {}

  @Get('workspaces/:id/history')
  @ConfigureRoute({ filters: ['filter[field]', 'filter[actor]'] })
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const filter = {
      fields: getListParameter(query, 'filter[field]').map(toHistoryField),
      actors: getListParameter(query, 'filter[actor]', { mostCharacters: MAX_ACTOR_LENGTH }),
    };
    await waitForHistory(this.store, { workspace: id });
    const scope = await findWorkspaceScope(this.store.database, actor, id);
    const owner = { workspace: id, organization: scope.organization };
    const hidden = listHiddenFields(actor, scope);
    const { rows, total, pageSize } = await listChanges(this.store.database, actor, owner, page, filter, hidden);
    const data = rows.map((row) => renderWorkspaceChange(id, row, hidden));
    return renderPage(data, { ...page, size: pageSize }, total, request.publicUrl);
  }
}

/** Returns the fields that the caller may not read in the present either. */
const listHiddenFields = (actor: Actor, scope: WorkspaceScope): readonly string[] => [
  ...HIDDEN_FIELDS,
  ...(can(actor, 'read-variables', scope) ? [] : ['vars']),
  // The values are other workspaces, which readers of this one may not be allowed to see.
  ...(can(actor, 'read-workspace', { organization: scope.organization }) ? [] : ['remote-state-consumers']),
];

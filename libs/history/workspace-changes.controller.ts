import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, may, type Actor } from '#access';
import { Database } from '#event-store';
import { listOf, pageDocument, pageOf, type Document, type Query as QueryOf } from '#json-api';
import { fieldOf, UNTOLD } from './fields.js';
import { historyCaughtUp } from './history.follower.js';
import type { WorkspacePlace } from './places.queries.js';
import { workspaceChangeResource } from './workspace-changes.document.js';
import { listChanges, workspaceInHistory } from './workspace-changes.queries.js';

/** An agent token's description, which names its pool's agents in the history, has at most so many. */
const MOST_CHARACTERS_OF_ACTOR = 1_000;

/** Who changed what of a workspace. */
@Controller('api/v2')
export class WorkspaceChangesController {
  constructor(private readonly database: Database) {}

  @Get('workspaces/:id/history')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    const filter = {
      fields: listOf(query, 'filter[field]').map(fieldOf),
      actors: listOf(query, 'filter[actor]', { mostCharacters: MOST_CHARACTERS_OF_ACTOR }),
    };
    await historyCaughtUp(this.database, { workspace: id });
    const hidden = hiddenFrom(actor, await workspaceInHistory(this.database, actor, id));
    const { rows, total, pageSize } = await listChanges(this.database, actor, id, page, filter, hidden);
    const data = rows.map((row) => workspaceChangeResource(id, row, hidden));
    return pageDocument(data, { ...page, size: pageSize }, total, request.url);
  }
}

/** What the caller is not shown of the workspace as it is now either. */
const hiddenFrom = (actor: Actor, place: WorkspacePlace): readonly string[] => [
  ...UNTOLD,
  ...(may(actor, 'read-variables', place) ? [] : ['vars']),
  // Others are workspaces, which who reads this one need not see.
  ...(may(actor, 'read-workspace', { organization: place.organization }) ? [] : ['remote-state-consumers']),
];

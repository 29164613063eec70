import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { EventStore } from '#storage/event-store';
import {
  renderPage,
  parsePage,
  type Document,
  type ListPage,
  type PageRequest,
  type PresentSubject,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { Clock } from '#platform/kernel';
import { waitForHistory } from '../writing/history.follower.js';
import { renderWorkspaceLock } from './workspace-locks.document.js';
import { listCurrentLocks, listLocksOf, type WorkspaceLockRow } from './workspace-locks.queries.js';

@Controller('api/v2')
export class WorkspaceLocksController {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  @Get('organizations/:organization/locks')
  listLocks(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.page(query, request, { organization }, (page) =>
      listCurrentLocks(this.store.database, actor, organization, page),
    );
  }

  @Get('workspaces/:id/lock-history')
  listOf(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.page(query, request, { workspace: id }, (page) => listLocksOf(this.store.database, actor, id, page));
  }

  private async page(
    query: QueryOf,
    { publicUrl }: FastifyRequest,
    subject: PresentSubject,
    list: (page: PageRequest) => Promise<ListPage<WorkspaceLockRow>>,
  ): Promise<Document> {
    const page = parsePage(query);
    await waitForHistory(this.store, subject);
    const { rows, total } = await list(page);
    const now = this.clock.now();
    const data = rows.map((row) => renderWorkspaceLock(row, now));
    return renderPage(data, page, total, publicUrl);
  }
}

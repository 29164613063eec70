import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { badRequest, Clock } from '#platform/kernel';
import {
  toOne,
  type Resource,
  getListParameter,
  renderPage,
  parsePage,
  type Document,
  type ListPage,
  type PageRequest,
  type PresentSubject,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { EventStore } from '#storage/event-store';
import { toActor } from '../workspace-changes/workspace-changes.document.js';
import { waitForHistory } from '../writing/history.follower.js';
import {
  type LockHolders,
  type WorkspaceLockRow,
  listCurrentLocks,
  listLocksOf,
  LOCK_HOLDERS,
} from './workspace-locks.queries.js';

/** Returns the duration in full seconds; until now if the workspace is still locked. */
const renderDuration = ({ lockedAt, unlockedAt }: WorkspaceLockRow, now: Date): number =>
  Math.max(
    0,
    Math.floor(((unlockedAt === null ? now.getTime() : Date.parse(unlockedAt)) - Date.parse(lockedAt)) / 1_000),
  );

const renderWorkspaceLock = (row: WorkspaceLockRow, now: Date): Resource => ({
  id: row.id,
  type: 'workspace-locks',
  attributes: {
    'workspace-name': row.workspaceName,
    reason: row.reason,
    'locked-at': row.lockedAt,
    'locked-by-name': row.holder.name,
    'unlocked-at': row.unlockedAt,
    'unlocked-by-name': row.unlockedBy?.name ?? null,
    forced: row.forced,
    'duration-seconds': renderDuration(row, now),
  },
  relationships: {
    workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
    'locked-by': toActor(row.holder),
    'unlocked-by': row.unlockedBy ? toActor(row.unlockedBy) : { data: null },
  },
});

const LOCKED_BY = 'filter[locked-by]';

/** Returns the kinds of holders; null for all of them. */
const parseHolders = (query: QueryOf): LockHolders | null => {
  const texts = getListParameter(query, LOCKED_BY);
  const holders = texts.map((text) => {
    const holder = LOCK_HOLDERS.find((each) => each === text);
    if (holder) return holder;
    throw badRequest(`${LOCKED_BY}: must be one or more of ${LOCK_HOLDERS.join(', ')}, got "${text}"`, LOCKED_BY);
  });
  return holders.length > 0 ? holders : null;
};

@Controller('api/v2')
export class WorkspaceLocksController {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  @Get('organizations/:organization/locks')
  @ConfigureRoute({ filters: [LOCKED_BY] })
  listLocks(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const holders = parseHolders(query);
    return this.page(query, request, { organization }, (page) =>
      listCurrentLocks(this.store.database, actor, organization, { page, holders }),
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

import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { selectRelatedUsers } from '#identity/people';
import { Database } from '#platform/postgres';
import { sql } from '#platform/kernel';
import {
  renderDocument,
  parseInclude,
  readRelated,
  getSlowReadCaller,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { renderComment, renderRunEvent } from './run-events.document.js';
import { findRunEvent, listRunEvents, type RunEventRow } from './run-events.queries.js';

export const INCLUDES = ['actor', 'comment'] as const;
type RunEventIncludes = ReadonlySet<(typeof INCLUDES)[number]> | null;

/** Serves the event history of a run, in the form that people read. */
@Controller('api/v2')
export class RunEventsController {
  constructor(private readonly database: Database) {}

  @Get('runs/:id/run-events')
  async list(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const rows = await listRunEvents(this.database, actor, id);
    return renderDocument(rows.map(renderRunEvent), await this.included(rows, includes, actor));
  }

  @Get('run-events/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const row = await findRunEvent(this.database, actor, id);
    return renderDocument(renderRunEvent(row), await this.included([row], includes, actor));
  }

  private async included(
    rows: readonly RunEventRow[],
    includes: RunEventIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const people = sql`${rows.map((row) => row.actor.id)}::text[]`;
    const relatedUsers = includes.has('actor') ? [selectRelatedUsers(people, actor)] : [];
    const users = await readRelated(this.database, relatedUsers, getSlowReadCaller(actor, rows));
    const commentedEvents = includes.has('comment') ? rows : [];
    return [
      ...users,
      ...commentedEvents.flatMap(({ id, comment, body }) =>
        comment ? [renderComment({ id: comment, runEvent: id, body: body ?? '' })] : [],
      ),
    ];
  }
}

import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#access';
import { relatedUsers } from '#people';
import { Database } from '#event-store';
import { sql } from '#kernel';
import {
  document,
  includesOf,
  readRelated,
  slowForLists,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { commentResource, runEventResource } from './run-events.document.js';
import { runEventFor, runEventsOf, type RunEventRow } from './run-events.queries.js';

const INCLUDES = ['actor', 'comment'] as const;
type Includes = ReadonlySet<(typeof INCLUDES)[number]> | null;

/** The history of a run: what its stream tells, as people read it. */
@Controller('api/v2')
export class RunEventsController {
  constructor(private readonly database: Database) {}

  @Get('runs/:id/run-events')
  async list(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const rows = await runEventsOf(this.database, actor, id);
    return document(rows.map(runEventResource), await this.included(rows, includes, actor));
  }

  @Get('run-events/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const row = await runEventFor(this.database, actor, id);
    return document(runEventResource(row), await this.included([row], includes, actor));
  }

  private async included(
    rows: readonly RunEventRow[],
    includes: Includes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const people = sql`${rows.map((row) => row.actor.id)}::text[]`;
    const wanted = includes.has('actor') ? [relatedUsers(people, actor)] : [];
    const users = await readRelated(this.database, wanted, slowForLists(actor, rows));
    const said = includes.has('comment') ? rows : [];
    return [
      ...users,
      ...said.flatMap(({ id, comment, body }) =>
        comment ? [commentResource({ id: comment, runEvent: id, body: body ?? '' })] : [],
      ),
    ];
  }
}

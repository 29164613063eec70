import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { document, includesOf, type Document, type Query as QueryOf, type Resource } from '#json-api';
import { commentResource, runEventResource } from './run-events.document.js';
import { runEventFor, runEventsOf, type RunEventRow } from './run-events.queries.js';
import { personResource } from './runs.document.js';

const INCLUDES = ['actor', 'comment'] as const;

/** The history of a run: what its stream tells, as people read it. */
@Controller('api/v2')
export class RunEventsController {
  constructor(private readonly database: Database) {}

  @Get('runs/:id/run-events')
  async list(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const included = includedBy(query);
    const rows = await runEventsOf(this.database, actor, id);
    return document(rows.map(runEventResource), included?.(rows));
  }

  @Get('run-events/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const included = includedBy(query);
    const row = await runEventFor(this.database, actor, id);
    return document(runEventResource(row), included?.([row]));
  }
}

const includedBy = (query: QueryOf): ((rows: readonly RunEventRow[]) => Resource[]) | null => {
  const includes = includesOf(query, INCLUDES);
  if (!includes) return null;
  return (rows) =>
    rows.flatMap(({ id, actor, comment, body }) => [
      ...(includes.has('actor') ? [personResource(actor)] : []),
      ...(includes.has('comment') && comment ? [commentResource({ id: comment, runEvent: id, body: body ?? '' })] : []),
    ]);
};

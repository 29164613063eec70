import { Controller, Get, Header, Query } from '@nestjs/common';
import { Clock, notFound } from '#kernel';
import { CurrentActor, demand, type Actor } from '#access';
import { caughtUp, Database } from '#event-store';
import { pageOf, parameter, type Query as QueryOf } from '#json-api';
import { AUDIT_TRAIL } from './audit-trail.follower.js';
import { findWalk, keepWalk, readerOf, readPage, readTrail, type Question } from './audit-trail.queries.js';
import { parseSince } from './since.js';
import { isWorthKeeping, paginationOf, viewOf } from './walk.js';

const MAX_SIZE = 1_000;

@Controller('api/v2')
export class AuditTrailController {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * The path names no organization: it is the token's own, and a token of anybody else has none. Not JSON:API but plain
   * JSON, and as bytes: Fastify adds a charset to the media type of all else.
   */
  @Get('organization/audit-trail')
  @Header('content-type', 'application/json')
  async list(@Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Buffer> {
    demand(actor, 'read-audit-trail', { organization: actor.id });
    const question = this.question(query, actor);
    const [walk] = await Promise.all([findWalk(this.database, question), caughtUp(this.database, AUDIT_TRAIL)]);
    const trail = await readTrail(this.database, actor, question, walk);
    if (!trail) throw notFound();
    const { page, reader } = question;
    const view = viewOf({ ...question, walk, ...trail });
    const { entries, total } = await readPage(this.database, question, trail, view);
    if (view.begins && isWorthKeeping(question, total)) await keepWalk(this.database, reader, view.begins);
    return Buffer.from(JSON.stringify({ data: entries, pagination: paginationOf(page, total, view.newer) }));
  }

  private question(query: QueryOf, actor: Actor): Question {
    const text = parameter(query, 'since');
    const since = text ? parseSince(text) : null;
    // Splunk's app says `page`.
    const number = parameter(query, 'page[number]') ?? parameter(query, 'page');
    const page = pageOf({ ...query, 'page[number]': number }, MAX_SIZE, MAX_SIZE);
    return {
      organization: actor.id,
      since,
      page,
      resumes: since !== null && number !== undefined,
      now: this.clock.now(),
      reader: readerOf(actor, since, page),
    };
  }
}

import { Controller, Get, Header, Headers, Inject, Query, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock, notFound } from '#kernel';
import { CurrentActor, demand, type Actor } from '#access';
import { caughtUp, EventStore } from '#event-store';
import type { Query as QueryOf } from '#json-api';
import { actorsNamed } from './audit-trail.actors.js';
import { Exports } from './audit-trail.exports.js';
import { AUDIT_TRAIL } from './audit-trail.follower.js';
import { idAt, readOn, readPage, readTrail, type TrailState } from './audit-trail.queries.js';
import { pageQuestionOf, questionOf, type PageQuestion, type Question } from './audit-trail.question.js';
import { findWalk, keepWalk, readerOf } from './audit-trail.walks.js';
import { cursorPagination, stretchAfter } from './cursor.js';
import { shown, type Entry, type Showing } from './entry.js';
import type { Stretch } from './stretch.js';
import { isWorthKeeping, paginationOf, viewOf, type Walk } from './walk.js';

export const SHOWING = Symbol('SHOWING');

const JSON_LINES = 'application/x-ndjson';

/** Only by its own name: readers in use accept anything, and get plain JSON (clients.md §6). */
const wantsLines = (accept = ''): boolean =>
  accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === JSON_LINES);

@Controller('api/v2')
export class AuditTrailController {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    private readonly exports: Exports,
    @Inject(SHOWING) private readonly showing: Showing,
  ) {}

  /**
   * The path names no organization: it is the token's own, and a token of anybody else has none. Not JSON:API but plain
   * JSON, and as bytes: Fastify adds a charset to the media type of all else.
   */
  @Get('organization/audit-trail')
  @Header('content-type', 'application/json')
  async list(
    @Query() query: QueryOf,
    @Headers('accept') accept: string | undefined,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    demand(actor, 'read-audit-trail', { organization: actor.id });
    const question = questionOf(query, actor.id, this.clock.now());
    if (wantsLines(accept)) {
      const lines = await this.lines(question, actor);
      void reply.header('content-type', JSON_LINES);
      return lines;
    }
    const paged = pageQuestionOf(query, question);
    const { entries, pagination } = await (paged.after === null ? this.page(paged, actor) : this.next(paged, actor));
    const opened = await this.store.seals.openIn(entries);
    const data = opened.map((entry) => shown(entry, this.showing));
    return Buffer.from(JSON.stringify({ data, pagination }));
  }

  private async page(question: PageQuestion, actor: Actor) {
    const reader = readerOf(actor, question);
    const [walk] = await Promise.all([findWalk(this.store.database, reader, question.now), this.caughtUp()]);
    const trail = await this.trail(question, actor, walk);
    const view = viewOf({ ...question, walk, ...trail, newer: trail.length - trail.pinned });
    const upper = view.begins ? trail.length : trail.pinned;
    const pinned = { from: trail.first, to: Math.min(upper, trail.until) };
    const newer = Math.max(0, Math.min(view.newer, trail.until - pinned.to));
    const found = await readPage(this.store.database, question, trail, { pinned, newer });
    if (view.begins && isWorthKeeping(question, found.total)) await keepWalk(this.store.database, reader, view.begins);
    return { entries: found.entries, pagination: paginationOf(question.page, found.total, found.newer) };
  }

  /** What comes after a cursor, oldest first: as it happened, and so that nothing that happens later gets in between. */
  private async next(question: PageQuestion, actor: Actor) {
    const { size } = question.page;
    const { trail, stretch } = await this.stretch(question, actor);
    const found = await readOn(this.store.database, question, trail, stretch, size + 1);
    const entries = found.slice(0, size).map(({ entry }) => entry);
    const more = found.length > size;
    const nextAfter = more ? (entries.at(-1)?.id ?? null) : await this.through(question, stretch, entries);
    return { entries, pagination: cursorPagination(size, entries.length, { nextAfter, more }) };
  }

  /** Where there is no more now: past what a filter has left out, or a reader who finds nothing for weeks would be lost. */
  private async through(
    { organization, after }: Question,
    { from, to }: Stretch,
    entries: readonly Entry[],
  ): Promise<string | null> {
    const last = to >= from ? await idAt(this.store.database, organization, to) : null;
    return last ?? entries.at(-1)?.id ?? (after || null);
  }

  private async lines(question: Question, actor: Actor): Promise<StreamableFile> {
    const { trail, stretch } = await this.stretch(question, actor);
    return new StreamableFile(this.exports.begin(question, trail, stretch, this.showing));
  }

  private async stretch(question: Question, actor: Actor): Promise<{ trail: TrailState; stretch: Stretch }> {
    await this.caughtUp();
    const trail = await this.trail(question, actor, null);
    return { trail, stretch: stretchAfter({ ...question, ...trail, upTo: Math.min(trail.length, trail.until) }) };
  }

  private async trail(question: Question, actor: Actor, walk: Walk | null): Promise<TrailState> {
    const trail = await readTrail(this.store.database, actor, question, walk);
    if (!trail) throw notFound();
    return { ...trail, accessors: [...trail.accessors, ...(await actorsNamed(this.store, question))] };
  }

  /** What was written before the request is in its answer. */
  private caughtUp(): Promise<void> {
    return caughtUp(this.store.database, AUDIT_TRAIL);
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { EventStore } from '#event-store';
import type { Actor } from '#access';
import { idAt, readOn, readPage } from './audit-trail.queries.js';
import type { PageQuestion, Question } from './audit-trail.question.js';
import { refuseGaps, stretchFor, toldUntilNow, trailFor } from './audit-trail.stretches.js';
import { findWalk, keepWalk, readerOf } from './audit-trail.walks.js';
import { cursorPagination } from './cursor.js';
import { shown, SHOWING, type Entry, type Showing } from './entry.js';
import type { Stretch } from './stretch.js';
import { isWorthKeeping, paginationOf, viewOf, type Pagination } from './walk.js';

type Page<T> = { readonly data: readonly T[]; readonly pagination: Pagination };

/** Trails in pages: newest first by their number, or oldest first behind a cursor. */
@Injectable()
export class Pages {
  constructor(
    private readonly store: EventStore,
    @Inject(SHOWING) private readonly showing: Showing,
  ) {}

  async read(question: PageQuestion, actor: Actor): Promise<Page<unknown>> {
    const { data, pagination } = await (question.after === null
      ? this.numbered(question, actor)
      : this.following(question, actor));
    const opened = await this.store.seals.openIn(data);
    return { data: opened.map((entry) => shown(entry, this.showing)), pagination };
  }

  private async numbered(question: PageQuestion, actor: Actor): Promise<Page<Entry>> {
    const { database } = this.store;
    const reader = readerOf(actor, question);
    const [walk] = await Promise.all([
      findWalk(database, reader, question.now),
      toldUntilNow(this.store, question.organization),
    ]);
    const trail = await trailFor(this.store, question, actor, walk);
    const view = viewOf({ ...question, walk, ...trail, newer: trail.length - trail.pinned });
    const upper = view.begins ? trail.length : trail.pinned;
    const pinned = { from: trail.first, to: Math.min(upper, trail.until) };
    const newer = Math.max(0, Math.min(view.newer, trail.until - pinned.to));
    const found = await readPage(database, question, trail, { pinned, newer });
    if (view.begins && isWorthKeeping(question, found.total)) await keepWalk(database, reader, view.begins);
    return { data: found.entries, pagination: paginationOf(question.page, found.total, found.newer) };
  }

  /** As it happened, and so that nothing that happens later gets in between. */
  private async following(question: PageQuestion, actor: Actor): Promise<Page<Entry>> {
    const { size } = question.page;
    const { trail, stretch } = await stretchFor(this.store, question, actor);
    const found = await readOn(this.store.database, question, trail, stretch, size + 1);
    if (question.after) await refuseGaps(this.store, question, stretch, found);
    const data = found.slice(0, size).map(({ entry }) => entry);
    const more = found.length > size;
    const nextAfter = more ? (data.at(-1)?.id ?? null) : await this.through(question, stretch, data);
    return { data, pagination: cursorPagination(size, data.length, { nextAfter, more }) };
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
}

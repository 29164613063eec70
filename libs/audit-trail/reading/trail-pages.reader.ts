import { Inject, Injectable } from '@nestjs/common';
import { EventStore } from '#event-store';
import type { Actor } from '#access';
import { findEntryId, readNextEntries, readPage } from './audit-trail.queries.js';
import type { TrailPageQuery, TrailQuery } from './trail-query.filter.js';
import { refuseGaps, loadCursorRange, waitForTrail, loadTrail } from './trail-ranges.reader.js';
import { findPagination, savePagination, computeReaderKey } from './paginations.queries.js';
import { buildCursorPagination } from './cursor.js';
import { renderEntry, ENTRY_VISIBILITY, type TrailEntry, type EntryVisibility } from '../writing/trail-entry.js';
import type { OrdinalRange } from './ordinal-range.js';
import { shouldSavePagination, buildPagination, choosePageView, type TrailPagination } from './pagination.js';

type TrailPage<T> = { readonly data: readonly T[]; readonly pagination: TrailPagination };

/** Trails in pages: newest first by their number, or oldest first behind a cursor. */
@Injectable()
export class TrailPageReader {
  constructor(
    private readonly store: EventStore,
    @Inject(ENTRY_VISIBILITY) private readonly showing: EntryVisibility,
  ) {}

  async read(question: TrailPageQuery, actor: Actor): Promise<TrailPage<unknown>> {
    const { data, pagination } = await (question.after === null
      ? this.numbered(question, actor)
      : this.following(question, actor));
    const opened = await this.store.personalDataCipher.openIn(data);
    return { data: opened.map((entry) => renderEntry(entry, this.showing)), pagination };
  }

  private async numbered(question: TrailPageQuery, actor: Actor): Promise<TrailPage<TrailEntry>> {
    const { database } = this.store;
    const reader = computeReaderKey(actor, question);
    const [pagination] = await Promise.all([
      findPagination(database, reader, question.now),
      waitForTrail(this.store, question.organization),
    ]);
    const trail = await loadTrail(this.store, question, actor, pagination);
    const view = choosePageView({ ...question, pagination, ...trail, newer: trail.length - trail.pinned });
    const upper = view.newPagination ? trail.length : trail.pinned;
    const pinned = { from: trail.first, to: Math.min(upper, trail.until) };
    const newer = Math.max(0, Math.min(view.newer, trail.until - pinned.to));
    const found = await readPage(database, question, trail, { pinned, newer });
    if (view.newPagination && shouldSavePagination(question, found.total))
      await savePagination(database, reader, view.newPagination);
    return { data: found.entries, pagination: buildPagination(question.page, found.total, found.newer) };
  }

  /** As it happened, and so that nothing that happens later gets in between. */
  private async following(question: TrailPageQuery, actor: Actor): Promise<TrailPage<TrailEntry>> {
    const { size } = question.page;
    const { trail, stretch } = await loadCursorRange(this.store, question, actor);
    const found = await readNextEntries(this.store.database, question, trail, stretch, size + 1);
    if (question.after) await refuseGaps(this.store, question, stretch, found);
    const data = found.slice(0, size).map(({ entry }) => entry);
    const more = found.length > size;
    const nextAfter = more ? (data.at(-1)?.id ?? null) : await this.through(question, stretch, data);
    return { data, pagination: buildCursorPagination(size, data.length, { nextAfter, more }) };
  }

  /** Where there is no more now: past what a filter has left out, or a reader who finds nothing for weeks would be lost. */
  private async through(
    { organization, after }: TrailQuery,
    { from, to }: OrdinalRange,
    entries: readonly TrailEntry[],
  ): Promise<string | null> {
    const last = to >= from ? await findEntryId(this.store.database, organization, to) : null;
    return last ?? entries.at(-1)?.id ?? (after || null);
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { EventStore } from '#storage/event-store';
import type { Actor } from '#api/access';
import { findEntryId, readNextEntries, readPage } from './audit-trail.queries.js';
import type { TrailPageQuery, TrailQuery } from './trail-query.filter.js';
import { waitForTrail } from '../wait-for-trail.queries.js';
import { refuseGaps, loadCursorRange, loadTrail } from './trail-ranges.reader.js';
import { findPagination, savePagination, computeReaderKey } from './paginations.queries.js';
import { buildCursorPagination } from './cursor.js';
import { renderEntry, ENTRY_VISIBILITY, type TrailEntry, type EntryVisibility } from '../writing/trail-entry.js';
import type { OrdinalRange } from './ordinal-range.js';
import { shouldSavePagination, buildPagination, choosePageView, type TrailPagination } from './pagination.js';

type TrailPage<T> = { readonly data: readonly T[]; readonly pagination: TrailPagination };

/** Reads pages of audit trails: newest first by page number, or oldest first after a cursor. */
@Injectable()
export class TrailPageReader {
  constructor(
    private readonly store: EventStore,
    @Inject(ENTRY_VISIBILITY) private readonly visibility: EntryVisibility,
  ) {}

  async read(query: TrailPageQuery, actor: Actor): Promise<TrailPage<unknown>> {
    const { data, pagination } = await (query.after === null
      ? this.readNumberedPage(query, actor)
      : this.readPageAfterCursor(query, actor));
    const opened = await this.store.personalDataCipher.openIn(data);
    return { data: opened.map((entry) => renderEntry(entry, this.visibility)), pagination };
  }

  private async readNumberedPage(query: TrailPageQuery, actor: Actor): Promise<TrailPage<TrailEntry>> {
    const { database } = this.store;
    const reader = computeReaderKey(actor, query);
    const [pagination] = await Promise.all([
      findPagination(database, reader, query.now),
      waitForTrail(this.store, query.organization),
    ]);
    const trail = await loadTrail(this.store, query, actor, pagination);
    const view = choosePageView({ ...query, pagination, ...trail, newer: trail.length - trail.pinned });
    const upper = view.newPagination ? trail.length : trail.pinned;
    const pinned = { from: trail.first, to: Math.min(upper, trail.until) };
    const newer = Math.max(0, Math.min(view.newer, trail.until - pinned.to));
    const page = await readPage(database, query, trail, { pinned, newer });
    if (view.newPagination && shouldSavePagination(query, page.total))
      await savePagination(database, reader, view.newPagination);
    return { data: page.entries, pagination: buildPagination(query.page, page.total, page.newer) };
  }

  /** Returns entries in order of their ordinals, so that later entries never come in between. */
  private async readPageAfterCursor(query: TrailPageQuery, actor: Actor): Promise<TrailPage<TrailEntry>> {
    const { size } = query.page;
    const { trail, range } = await loadCursorRange(this.store, query, actor);
    const entries = await readNextEntries(this.store.database, query, trail, range, size + 1);
    if (query.after) await refuseGaps(this.store, query, range, entries);
    const data = entries.slice(0, size).map(({ entry }) => entry);
    const more = entries.length > size;
    const nextAfter = more ? (data.at(-1)?.id ?? null) : await this.findNextCursor(query, range, data);
    return { data, pagination: buildCursorPagination(size, data.length, { nextAfter, more }) };
  }

  /**
   * Returns the next cursor if there are no more entries now. It moves past entries that the filter excludes; otherwise
   * the cursor of a reader without matches for weeks would expire.
   */
  private async findNextCursor(
    { organization, after }: TrailQuery,
    { from, to }: OrdinalRange,
    entries: readonly TrailEntry[],
  ): Promise<string | null> {
    const last = to >= from ? await findEntryId(this.store.database, organization, to) : null;
    return last ?? entries.at(-1)?.id ?? (after || null);
  }
}

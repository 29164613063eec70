import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { EventStore } from '#event-store';
import type { Actor } from '#access';
import { readEntryLines, type TrailWindow } from './audit-trail.queries.js';
import type { TrailQuery } from './trail-query.filter.js';
import { refuseGaps, loadCursorRange } from './trail-ranges.reader.js';
import { ENTRY_VISIBILITY, type EntryVisibility } from '../writing/trail-entry.js';
import type { OrdinalRange } from './ordinal-range.js';

/** So few that their text is no large object to V8, which would stay until the slow kind of garbage collection comes. */
const LINES_PER_READ = 100;

/**
 * Trails as lines of JSON, of any length. A piece is read when the reader has taken the one before, so that neither a slow
 * one nor a long trail fills the memory; no transaction is open meanwhile, which followers and vacuum would wait for.
 */
@Injectable()
export class TrailExporter implements OnModuleDestroy {
  private readonly open = new Set<Readable>();

  constructor(
    private readonly store: EventStore,
    @Inject(ENTRY_VISIBILITY) private readonly showing: EntryVisibility,
  ) {}

  /** The stretch is fixed: what is written meanwhile is not in it, and nothing comes twice. */
  async start(question: TrailQuery, actor: Actor): Promise<Readable> {
    const { trail, stretch } = await loadCursorRange(this.store, question, actor);
    // Texts as they are: as buffers they would lie outside of the heap, where collections come too seldom for them.
    const lines = Readable.from(this.lines(question, trail, stretch));
    this.open.add(lines);
    lines.once('close', () => this.open.delete(lines));
    return lines;
  }

  /** Readers find that the answer has no end, and so do not take it for all there is. */
  onModuleDestroy(): void {
    for (const lines of this.open) lines.destroy(new Error('the server is being stopped'));
  }

  private async *lines(question: TrailQuery, trail: TrailWindow, { from, to }: OrdinalRange) {
    const asked = { ...question, ...this.showing };
    for (let next = from, count = LINES_PER_READ; count === LINES_PER_READ;) {
      const stretch = { from: next, to };
      const read = await readEntryLines(this.store.database, asked, trail, stretch, LINES_PER_READ);
      // Entries may be missing only where nobody has asked for what comes before: at the beginning of all that is kept.
      if (question.after || next > from) await refuseGaps(this.store, question, stretch, read);
      count = read.length;
      next = (read.at(-1)?.ordinal ?? to) + 1;
      const text = await this.store.personalDataCipher.openInText(read.map(({ line }) => `${line}\n`).join(''));
      // What has waited for the rows knows what waits for the next ones: once the first has grown old, all that came after
      // it would stay until the slow kind of garbage collection comes, a hundred megabytes later.
      read.length = 0;
      if (text) yield text;
    }
  }
}

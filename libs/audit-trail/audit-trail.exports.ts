import { Readable } from 'node:stream';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { EventStore } from '#event-store';
import { readOn, type TrailState } from './audit-trail.queries.js';
import type { Question } from './audit-trail.question.js';
import { shown, type Showing } from './entry.js';
import type { Stretch } from './stretch.js';

const AT_ONCE = 500;

/**
 * Trails as lines of JSON, of any length. A piece is read when the reader has taken the one before, so that neither a slow
 * one nor a long trail fills the memory; no transaction is open meanwhile, which followers and vacuum would wait for.
 */
@Injectable()
export class Exports implements OnModuleDestroy {
  private readonly open = new Set<Readable>();

  constructor(private readonly store: EventStore) {}

  /** The stretch is fixed: what is written meanwhile is not in it, and nothing comes twice. */
  begin(question: Question, trail: TrailState, stretch: Stretch, showing: Showing): Readable {
    const lines = Readable.from(this.lines(question, trail, stretch, showing), { objectMode: false });
    this.open.add(lines);
    lines.once('close', () => this.open.delete(lines));
    return lines;
  }

  /** Readers find that the answer has no end, and so do not take it for all there is. */
  onModuleDestroy(): void {
    for (const lines of this.open) lines.destroy(new Error('the server is being stopped'));
  }

  private async *lines(question: Question, trail: TrailState, { from, to }: Stretch, showing: Showing) {
    for (let next = from; next <= to;) {
      const read = await readOn(this.store.database, question, trail, { from: next, to }, AT_ONCE);
      const last = read.at(-1);
      // A filter finds less where it is through. Without one, only what is pruned meanwhile can be missing.
      if (!last) return;
      next = last.ordinal + 1;
      const opened = await this.store.seals.openIn(read.map(({ entry }) => entry));
      const text = opened.map((entry) => `${JSON.stringify(shown(entry, showing))}\n`).join('');
      // What has waited for the rows knows what waits for the next ones: once the first has grown old, all that came after
      // it would stay until the slow kind of garbage collection comes, a hundred megabytes later.
      read.length = 0;
      yield text;
    }
  }
}

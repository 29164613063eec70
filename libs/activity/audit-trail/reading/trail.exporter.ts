import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { EventStore } from '#storage/event-store';
import type { Actor } from '#api/access';
import { readNextEntries } from './audit-trail.queries.js';
import type { TrailWindow } from './trail-window.js';
import type { TrailQuery } from './trail-query.filter.js';
import { refuseGaps, loadCursorRange } from './trail-ranges.reader.js';
import { ENTRY_VISIBILITY, renderEntry, type EntryVisibility } from '../writing/trail-entry.js';
import type { ExportFormat } from '../formats/trail-formats.renderer.js';
import type { NumberedEntry } from '../writing/trail.js';
import type { OrdinalRange } from './ordinal-range.js';
import { ProvedEntries } from './proved-entries.renderer.js';
import { TrailProofs } from './trail-proofs.port.js';

/**
 * Few enough that V8 does not allocate their text as a large object, which would stay until the next slow garbage
 * collection.
 */
const LINES_PER_READ = 100;

/**
 * Exports audit trails of any length. It reads the next lines only after the reader has taken the
 * previous ones, so that slow readers and long audit trails do not fill the memory. No transaction stays open in
 * between, because followers and vacuum would wait for it.
 */
@Injectable()
export class TrailExporter implements OnModuleDestroy {
  private readonly open = new Set<Readable>();

  constructor(
    private readonly store: EventStore,
    private readonly proofs: TrailProofs,
    @Inject(ENTRY_VISIBILITY) private readonly visibility: EntryVisibility,
  ) {}

  /** Starts an export of a fixed range, so that entries written meanwhile are excluded and no entry appears twice. */
  async start(query: TrailQuery, actor: Actor, { convert }: ExportFormat): Promise<Readable> {
    const { trail, range } = await loadCursorRange(this.store, query, actor);
    return this.stream(convert(this.lines(query, trail, range, (entries) => this.renderEntries(entries))));
  }

  /** Starts an export of lines with proofs, after a line with the checkpoint that they refer to. */
  async startProved(query: TrailQuery, actor: Actor): Promise<Readable> {
    // Before the range: a checkpoint that is signed meanwhile would have entries that the range does not have.
    const proved = await ProvedEntries.open(this.store, this.proofs, query.organization);
    const { trail, range } = await loadCursorRange(this.store, query, actor);
    const lines = this.lines(query, trail, proved.limitRange(range), (entries) =>
      proved.renderLines(entries, this.visibility),
    );
    const all = async function* (): AsyncGenerator<string> {
      yield proved.renderCheckpoint();
      yield* lines;
    };
    return this.stream(all());
  }

  private stream(pieces: AsyncIterable<string | Uint8Array>): Readable {
    // Strings instead of buffers: buffers are outside the heap, where garbage is collected too rarely.
    const content = Readable.from(pieces);
    this.open.add(content);
    content.once('close', () => this.open.delete(content));
    return content;
  }

  /** Aborts open exports, so that readers notice an incomplete response. */
  onModuleDestroy(): void {
    for (const content of this.open) content.destroy(new Error('the server is stopping'));
  }

  private renderEntries(entries: readonly NumberedEntry[]): Promise<string> {
    const lines = entries.map(({ entry }) => `${JSON.stringify(renderEntry(entry, this.visibility))}\n`);
    return this.store.personalDataCipher.openInText(lines.join(''));
  }

  private async *lines(
    query: TrailQuery,
    trail: TrailWindow,
    { from, to }: OrdinalRange,
    render: (entries: readonly NumberedEntry[]) => Promise<string>,
  ): AsyncGenerator<string> {
    for (let next = from, count = LINES_PER_READ; count === LINES_PER_READ;) {
      const range = { from: next, to };
      const read = await readNextEntries(this.store.database, query, trail, range, LINES_PER_READ);
      // Entries may only be missing at the beginning of the audit trail, if the reader did not continue from a cursor.
      if (query.after || next > from) await refuseGaps(this.store, query, range, read);
      count = read.length;
      next = (read.at(-1)?.ordinal ?? to) + 1;
      const text = await render(read);
      // Emptied, because each awaited result references the next one. As soon as the first result is in the old
      // generation, all later ones would stay until the next slow garbage collection, a hundred megabytes later.
      read.length = 0;
      if (text) yield text;
    }
  }
}

import type { EventStore } from '#storage/event-store';
import { Refusal, unavailable } from '#platform/kernel';
import { findTrailLog, openEntries, renderOpening, type TrailLog } from '../log/opened-entries.reader.js';
import type { EntryVisibility } from '../writing/trail-entry.js';
import { SITE_TRAIL, type NumberedEntry } from '../writing/trail.js';
import type { OrdinalRange } from './ordinal-range.js';
import { CHECKPOINT_RETRY_SECONDS, type TrailCheckpoint, type TrailProofs } from './trail-proofs.port.js';

/** Renders the entries of one export with what proves that a signed checkpoint contains them. */
export class ProvedEntries {
  private constructor(
    private readonly store: EventStore,
    private readonly proofs: TrailProofs,
    private readonly log: TrailLog,
    private readonly checkpoint: TrailCheckpoint,
  ) {}

  /** Throws a refusal if the trail has no log, or nothing is signed yet. */
  static async open(store: EventStore, proofs: TrailProofs, organization: string): Promise<ProvedEntries> {
    if (organization === SITE_TRAIL) {
      const detail = 'proofs: the audit trail of the site has no proofs; those of organizations have';
      throw new Refusal('unprocessable', [{ detail, parameter: 'proofs' }]);
    }
    const [log, checkpoint] = await Promise.all([
      findTrailLog(store, organization),
      proofs.findCheckpoint(organization),
    ]);
    if (!log || !checkpoint)
      throw unavailable('The audit trail has no signed checkpoint yet.', CHECKPOINT_RETRY_SECONDS);
    return new ProvedEntries(store, proofs, log, checkpoint);
  }

  /** Leaves out the entries from before the log, and those that the checkpoint does not contain yet. */
  limitRange({ from, to }: OrdinalRange): OrdinalRange {
    const { firstOrdinal } = this.log;
    return { from: Math.max(from, firstOrdinal), to: Math.min(to, firstOrdinal + this.checkpoint.size - 1) };
  }

  renderCheckpoint(): string {
    return `${JSON.stringify({ checkpoint: this.checkpoint.note })}\n`;
  }

  async renderLines(entries: readonly NumberedEntry[], visibility: EntryVisibility): Promise<string> {
    const opened = await openEntries(this.store, this.log, entries, visibility);
    const indexes = opened.map(({ index }) => index);
    const proofs = await this.proofs.prove(this.log.organization, indexes, this.checkpoint);
    return opened
      .map((one, n) => ({
        index: one.index,
        entry: one.entry,
        ...renderOpening(one),
        proof: (proofs[n] ?? []).map((hash) => hash.toString('base64')),
      }))
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Clock, notFound, unavailable } from '#platform/kernel';
import {
  CHECKPOINT_RETRY_SECONDS,
  ENTRY_VISIBILITY,
  findRetainedEntry,
  findTrailLog,
  openEntries,
  renderOpening,
  waitForTrail,
  type EntryVisibility,
  type TrailLog,
} from '#activity/audit-trail';
import { formatProof, proveInclusion } from '#packages/trail-verifier';
import { EventStore } from '#storage/event-store';
import { SITE_LOG } from '../tiles/hashes.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { findNewestCheckpoint, findSiteLeaf } from './trail-logs.queries.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DIGEST = /^[0-9a-f]{64}$/;
/** The log of the site is signed once a minute, and then sent to witnesses. */
const SITE_RETRY_SECONDS = 60;
const INDEX = /^(?:0|[1-9]\d{0,14})$/;

/** Proves that an entry is in the log of its trail. */
@Injectable()
export class TrailProofReader {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    @Inject(ENTRY_VISIBILITY) private readonly visibility: EntryVisibility,
  ) {}

  /**
   * Returns the proof of an entry, named by its id or by its index in the log. After the retention of an entry has ended, only
   * its index finds it, and the proof contains nothing that opens its leaf.
   */
  async read(organization: string, key: string): Promise<string> {
    const isIndex = INDEX.test(key);
    if (!isIndex && !UUID.test(key)) throw notFound();
    await waitForTrail(this.store, organization);
    const log = await findTrailLog(this.store, organization);
    if (!log) throw notFound();
    const opened = await this.open(log, isIndex ? { ordinal: log.firstOrdinal + Number(key) } : { id: key });
    const index = opened?.index ?? (isIndex ? Number(key) : null);
    if (index === null || index >= log.leaves) throw notFound();
    return this.prove(log, index, opened && Buffer.from(JSON.stringify(renderOpening(opened))));
  }

  /** Returns the proof that the log of the site has the checkpoint with this digest, in hexadecimal digits. */
  async readOfSite(digest: string): Promise<string> {
    if (!DIGEST.test(digest)) throw notFound();
    const { database } = this.store;
    const site = await findSiteLeaf(database, Buffer.from(digest, 'hex'));
    if (!site || site.index === null) throw notFound();
    const { index, size, note } = site;
    if (index >= size) {
      throw unavailable(
        'The newest checkpoint of the log of the site does not contain it yet. Please try again.',
        SITE_RETRY_SECONDS,
      );
    }
    const proof = await computeWithTiles(database, SITE_LOG, (source) => proveInclusion(index, size, source));
    return formatProof({ index, proof, checkpoint: note, extra: null });
  }

  private async prove({ organization }: TrailLog, index: number, extra: Buffer | null): Promise<string> {
    const { database } = this.store;
    const checkpoint = await findNewestCheckpoint(database, organization);
    if (!checkpoint || index >= checkpoint.size) {
      throw unavailable('The entry is not in a checkpoint yet. Please try again.', CHECKPOINT_RETRY_SECONDS);
    }
    const { size, note } = checkpoint;
    const proof = await computeWithTiles(database, organization, (source) => proveInclusion(index, size, source));
    return formatProof({ index, proof, checkpoint: note, extra });
  }

  private async open(log: TrailLog, key: { readonly id: string } | { readonly ordinal: number }) {
    const entry = await findRetainedEntry(this.store.database, log.organization, key, this.clock.now());
    if (!entry) return null;
    return (await openEntries(this.store, log, [entry], this.visibility))[0] ?? null;
  }
}

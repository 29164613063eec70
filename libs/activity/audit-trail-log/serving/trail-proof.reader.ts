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
} from '#activity/audit-trail';
import {
  formatProof,
  parseCheckpoint,
  proveInclusion,
  splitNote,
  verifyInclusion,
  type HashSource,
} from '#packages/trail-verifier';
import { EventStore } from '#storage/event-store';
import { SITE_LOG } from '../tiles/hashes.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { UpperTiles } from '../tiles/upper-tiles.service.js';
import { findNewestCheckpoint, findSiteLeaf } from './trail-logs.queries.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DIGEST = /^[0-9a-f]{64}$/;
/** The log of the site is signed once a minute, and then sent to witnesses. */
const SITE_RETRY_SECONDS = 60;
const INDEX = /^(?:0|[1-9]\d{0,14})$/;

const parseEntryKey = (key: string): { readonly id: string } | { readonly index: number } => {
  if (INDEX.test(key)) return { index: Number(key) };
  if (!UUID.test(key)) throw notFound();
  return { id: key };
};

/** Proves that an entry is in the log of its trail. */
@Injectable()
export class TrailProofReader {
  private readonly upperTiles = new UpperTiles();

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
    const entryKey = parseEntryKey(key);
    await waitForTrail(this.store, organization);
    const { database } = this.store;
    // Statements that need nothing of each other are sent together: the round trips are the time of a proof.
    const [log, checkpoint, entry] = await Promise.all([
      findTrailLog(this.store, organization),
      findNewestCheckpoint(database, organization),
      findRetainedEntry(database, organization, entryKey, this.clock.now()),
    ]);
    if (!log) throw notFound();
    const index = 'index' in entryKey ? entryKey.index : (entry?.ordinal ?? -1) - log.firstOrdinal;
    if (index < 0 || index >= log.leaves) throw notFound();
    if (!checkpoint || index >= checkpoint.size) {
      throw unavailable('The entry is not in a checkpoint yet. Please try again.', CHECKPOINT_RETRY_SECONDS);
    }
    const { note } = checkpoint;
    const [[opened], proof] = await Promise.all([
      entry ? openEntries(this.store, log, [entry], this.visibility) : [],
      this.prove(organization, index, note),
    ]);
    const extra = opened ? Buffer.from(JSON.stringify(renderOpening(opened))) : null;
    return formatProof({ index, proof, checkpoint: note, extra });
  }

  /** Proves an entry with the upper tiles of earlier proofs, if the result fits the checkpoint. */
  private async prove(organization: string, index: number, note: string): Promise<readonly Buffer[]> {
    const { size, root } = parseCheckpoint(splitNote(note).text);
    const compute = async (source: HashSource) => ({
      leafHash: await source(0, index),
      proof: await proveInclusion(index, size, source),
    });
    const { database } = this.store;
    const proved = await computeWithTiles(database, organization, compute, this.upperTiles);
    if (verifyInclusion({ index, size, root, ...proved })) return proved.proof;
    this.upperTiles.forget(organization);
    return (await computeWithTiles(database, organization, compute)).proof;
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
}

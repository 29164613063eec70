import { Injectable } from '@nestjs/common';
import { notFound } from '#platform/kernel';
import { hashLeaves, parseTilePath, TILE_WIDTH } from '#packages/trail-verifier';
import { Database } from '#platform/postgres';
import { getLeafBytes, SITE_LOG, splitHashes } from '../tiles/hashes.js';
import { readTiles } from '../tiles/tiles.reader.js';
import {
  findNewestCheckpoint,
  findSiteCheckpoint,
  hasCheckpointWithTile,
  listVerifierKeys,
} from './trail-logs.queries.js';

/** Levels above are empty: a log never has so many leaves. */
const MAX_LEVEL = 6;

/** Reads what a transparency log publishes (C2SP tlog-tiles). */
@Injectable()
export class TrailLogReader {
  constructor(private readonly database: Database) {}

  async readCheckpoint(organization: string): Promise<Buffer> {
    const checkpoint = await (organization === SITE_LOG
      ? findSiteCheckpoint(this.database)
      : findNewestCheckpoint(this.database, organization));
    if (!checkpoint) throw notFound();
    return Buffer.from(checkpoint.note);
  }

  async readKeys(organization: string): Promise<Buffer> {
    const keys = await listVerifierKeys(this.database, organization);
    if (keys.length === 0) throw notFound();
    return Buffer.from(`${keys.join('\n')}\n`);
  }

  /** `path` begins after `tile/`. */
  async readTile(organization: string, path: string): Promise<Buffer> {
    const tile = parseTilePath(`tile/${path}`);
    if (!tile) throw notFound();
    const part = { level: tile.level === 'entries' ? 0 : tile.level, index: tile.index, width: tile.width };
    if (part.level > MAX_LEVEL) throw notFound();
    // A complete tile is stored together with a checkpoint that contains it.
    if (tile.width < TILE_WIDTH && !(await hasCheckpointWithTile(this.database, organization, part))) throw notFound();
    const hashes = (await readTiles(this.database, organization, [part])).get(`${part.level}/${part.index}`);
    if (!hashes) throw notFound();
    if (tile.level === 'entries') return formatBundle(organization, hashes);
    return part.level === 0 ? hashLeaves(hashes, getLeafBytes(organization)) : hashes;
  }
}

/** Returns each leaf after its length. */
const formatBundle = (log: string, leaves: Buffer): Buffer =>
  Buffer.concat(
    splitHashes(leaves, getLeafBytes(log)).flatMap((leaf) => [Buffer.of(leaf.length >> 8, leaf.length & 0xff), leaf]),
  );

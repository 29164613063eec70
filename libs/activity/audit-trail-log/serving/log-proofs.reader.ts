import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { TrailProofs, type TrailCheckpoint } from '#activity/audit-trail';
import { proveInclusion } from '#packages/trail-verifier';
import { Database } from '#platform/postgres';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { findNewestCheckpoint } from './trail-logs.queries.js';

/** So few that other requests wait for some milliseconds only. */
const PROOFS_PER_TURN = 10;

/** Proves the entries of exports. */
@Injectable()
export class LogProofReader extends TrailProofs {
  constructor(private readonly database: Database) {
    super();
  }

  override async findCheckpoint(organization: string): Promise<TrailCheckpoint | null> {
    return (await findNewestCheckpoint(this.database, organization)) ?? null;
  }

  /** Reads the tiles for all proofs in one statement. */
  override prove(
    organization: string,
    indexes: readonly number[],
    { size }: TrailCheckpoint,
  ): Promise<readonly (readonly Buffer[])[]> {
    return computeWithTiles(this.database, organization, async (source) => {
      const proofs: (readonly Buffer[])[] = [];
      for (const [n, index] of indexes.entries()) {
        // The entries of a filtered export are far from each other, and each needs the hashes of a tile.
        if (n > 0 && n % PROOFS_PER_TURN === 0) await setImmediate();
        proofs.push(await proveInclusion(index, size, source));
      }
      return proofs;
    });
  }
}

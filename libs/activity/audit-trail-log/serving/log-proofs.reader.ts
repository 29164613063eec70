import { Injectable } from '@nestjs/common';
import { TrailProofs, type TrailCheckpoint } from '#activity/audit-trail';
import { proveInclusion } from '#packages/trail-verifier';
import { Database } from '#platform/postgres';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { findNewestCheckpoint } from './trail-logs.queries.js';

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
    return computeWithTiles(this.database, organization, (source) =>
      Promise.all(indexes.map((index) => proveInclusion(index, size, source))),
    );
  }
}

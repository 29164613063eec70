import type { Logger } from '#platform/kernel';
import { computeRoot, openCheckpoint, parseVerifierKey, type Witness } from '#packages/trail-verifier';
import type { OutboundFetch } from '#platform/outbound';
import type { Database } from '#platform/postgres';
import type { BlobStore } from '#storage/blob-store';
import { PublishedCheckpoints } from '../checkpoints/published-checkpoints.files.js';
import { listVerifierKeys } from '../serving/trail-logs.queries.js';
import { SITE_LOG } from '../tiles/hashes.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { listSignedLogs } from '../verification/trail-logs.queries.js';
import { findSiteCheckpointToCosign, markAllLogs, type SiteCheckpoint } from './witness-states.queries.js';
import { fetchCosignedCheckpoint } from './witness.client.js';

export type ReachableWitness = Witness & { readonly url: string };

export type WitnessJobDependencies = {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly logger: Logger;
};

/** What the checkpoint of a witness is: absent, one that the log continues, or one of another history. */
type WitnessedHistoryKind = 'nothing' | 'this-history' | 'another-history';

/** Compares the log of the site with the checkpoints that witnesses have cosigned. */
export class WitnessedHistory {
  constructor(
    private readonly dependencies: WitnessJobDependencies,
    private readonly send: OutboundFetch,
  ) {}

  /**
   * Gives up all origins if the witness has a checkpoint that this site has signed and its log does not continue: the database
   * and the file store are then older than what was published. Throws an error for a checkpoint that the site has not signed.
   */
  async compare(witness: ReachableWitness, { origin }: SiteCheckpoint): Promise<WitnessedHistoryKind> {
    const { database } = this.dependencies;
    const note = await fetchCosignedCheckpoint(this.send, witness, origin);
    if (note === null) return 'nothing';
    const keys = (await listVerifierKeys(database, SITE_LOG)).map(parseVerifierKey);
    const cosigned = openCheckpoint(
      note,
      keys.filter(({ name }) => name === origin),
      `the checkpoint of the witness ${witness.name}`,
    );
    // Read after the answer, because another process may have signed a larger checkpoint, and the witness cosigned it, meanwhile.
    const newest = await findSiteCheckpointToCosign(database);
    // Another round has given up the origin.
    if (newest?.origin !== origin) return 'another-history';
    const { size } = newest;
    const isContinued =
      cosigned.size <= size &&
      cosigned.root.equals(await computeWithTiles(database, SITE_LOG, (source) => computeRoot(cosigned.size, source)));
    if (isContinued) return 'this-history';
    await this.fork(witness, origin, { size, cosigned: cosigned.size });
    return 'another-history';
  }

  /** Without the checkpoints in the file store, every log continues under another origin. */
  private async fork(
    { name }: Witness,
    origin: string,
    sizes: { readonly size: number; readonly cosigned: number },
  ): Promise<void> {
    const { database, blobs, logger } = this.dependencies;
    const published = new PublishedCheckpoints(blobs);
    // Another round has begun it, and the log of the site is not signed again yet.
    if ((await published.find(SITE_LOG)) === null) return;
    logger.warn(
      { witness: name, origin, ...sizes },
      'a witness has cosigned another history: the database is older than what was published, and all logs get another origin',
    );
    const logs = await listSignedLogs(database);
    for (const log of logs.filter((each) => each !== SITE_LOG)) await published.delete(log);
    await published.delete(SITE_LOG);
    await database.transaction([markAllLogs]);
  }
}

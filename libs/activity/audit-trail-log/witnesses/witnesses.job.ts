import { readFileSync } from 'node:fs';
import type { Logger } from '#platform/kernel';
import {
  computeRoot,
  formatVerifierKey,
  openCheckpoint,
  openNote,
  parseVerifierKey,
  parseWitnessPolicy,
  proveConsistency,
  type Witness,
  type WitnessPolicy,
} from '#packages/trail-verifier';
import { StartupError } from '#platform/host';
import { createOutboundFetch, type OutboundFetch } from '#platform/outbound';
import type { Database, ScheduledJob } from '#platform/postgres';
import type { BlobStore } from '#storage/blob-store';
import { lockUnsignedLogs } from '../checkpoints/unsigned-logs.queries.js';
import { PublishedCheckpoints } from '../checkpoints/published-checkpoints.files.js';
import { checkpointMetrics } from '../checkpoints/checkpoints.metrics.js';
import { listVerifierKeys } from '../serving/trail-logs.queries.js';
import { SITE_LOG } from '../tiles/hashes.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { listSignedLogs } from '../verification/trail-logs.queries.js';
import {
  findSiteCheckpointToCosign,
  listCosignedSizes,
  markAllLogs,
  storeCosignature,
  storeCosignedSize,
  type SiteCheckpoint,
} from './witness-states.queries.js';
import { fetchCosignedCheckpoint, MAX_ANSWER_BYTES, requestCosignature } from './witness.client.js';

const EVERY_MS = 10_000;
/** A witness that has lost its state answers with another size at most once in a row. */
const ATTEMPTS = 3;

type ReachableWitness = Witness & { readonly url: string };

type WitnessJobDependencies = {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly logger: Logger;
};

/**
 * Creates the job that lets witnesses cosign the newest checkpoint of the log of the site. It is another job than the one
 * that signs, so that a witness which does not answer delays nothing.
 */
export const createTrailWitnessJob = (dependencies: WitnessJobDependencies, policyFile: string): ScheduledJob => {
  const policy = readPolicy(policyFile);
  // Only an administrator of the site chooses the addresses.
  const send = createOutboundFetch({ privateHosts: null, maxBytes: MAX_ANSWER_BYTES });
  const round = new WitnessRound(dependencies, policy, send);
  return { name: 'trail_witnesses', everyMs: EVERY_MS, run: ({ done }) => round.run(done) };
};

const readPolicy = (file: string): WitnessPolicy => {
  try {
    return parseWitnessPolicy(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartupError(`CADASTRE_TRAIL_WITNESSES: ${(error as Error).message}`, { cause: error });
  }
};

class WitnessRound {
  constructor(
    private readonly dependencies: WitnessJobDependencies,
    private readonly policy: WitnessPolicy,
    private readonly send: OutboundFetch,
  ) {}

  async run(done: () => void): Promise<void> {
    const { database, logger } = this.dependencies;
    const checkpoint = await findSiteCheckpointToCosign(database);
    if (!checkpoint) return;
    const sizes = await listCosignedSizes(database, checkpoint.origin);
    const store = this.createStore(checkpoint);
    await Promise.all(
      this.policy.witnesses.map(async (witness) => {
        const cosigned = sizes.get(formatVerifierKey(witness.key)) ?? 0;
        if (witness.url === null || cosigned >= checkpoint.size) return;
        try {
          const line = await this.requestLine({ ...witness, url: witness.url }, checkpoint, cosigned);
          if (line === null) return;
          await store(witness, line);
          done();
        } catch (err) {
          checkpointMetrics.witnessFailures.inc({ witness: witness.name });
          logger.warn({ err, witness: witness.name }, 'a witness did not cosign the checkpoint of the site');
        }
      }),
    );
  }

  /** Returns the cosignature line, or null if the witness has cosigned another history. */
  private async requestLine(
    witness: ReachableWitness,
    checkpoint: SiteCheckpoint,
    cosigned: number,
  ): Promise<string | null> {
    const { database } = this.dependencies;
    const { size, note } = checkpoint;
    let old = cosigned;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const from = old;
      const proof = await computeWithTiles(database, SITE_LOG, (source) => proveConsistency(from, size, source));
      const answer = await requestCosignature(this.send, witness, { old, proof, note });
      if ('lines' in answer) return answer.lines;
      const { conflict } = answer;
      if (conflict === null || conflict > size || conflict === old) break;
      old = conflict;
    }
    await this.checkHistory(witness, checkpoint);
    return null;
  }

  /**
   * Gives up all origins if the witness has a checkpoint that this site has signed and its log does not continue: the database
   * and the file store are then older than what was published. Throws an error if the witness proves nothing, because
   * anybody can answer with a number.
   */
  private async checkHistory(witness: ReachableWitness, { origin, size }: SiteCheckpoint): Promise<void> {
    const { database } = this.dependencies;
    const keys = (await listVerifierKeys(database, SITE_LOG)).map(parseVerifierKey);
    const cosigned = openCheckpoint(
      await fetchCosignedCheckpoint(this.send, witness, origin),
      keys.filter(({ name }) => name === origin),
      `the checkpoint of the witness ${witness.name}`,
    );
    const isContinued =
      cosigned.size <= size &&
      cosigned.root.equals(await computeWithTiles(database, SITE_LOG, (source) => computeRoot(cosigned.size, source)));
    if (isContinued)
      throw new Error(`the witness ${witness.name} refuses a checkpoint that continues what it cosigned`);
    await this.fork(witness, origin, { size, cosigned: cosigned.size });
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

  /**
   * Returns a function that stores the cosignature of a witness as soon as it arrives, so that a slow witness delays no other
   * one. One follows the other, because each needs the earlier ones to find out whether there is a quorum.
   */
  private createStore(checkpoint: SiteCheckpoint): (witness: Witness, line: string) => Promise<void> {
    const { origin, size } = checkpoint;
    let { note } = checkpoint;
    let last = Promise.resolve();
    return (witness, line) => {
      const stored = last.then(async () => {
        await this.dependencies.database.transaction([
          lockUnsignedLogs,
          storeCosignature(checkpoint, line, this.isQuorum(note + line)),
          storeCosignedSize(origin, formatVerifierKey(witness.key), size),
        ]);
        note += line;
      });
      last = stored.catch(() => undefined);
      return stored;
    };
  }

  private isQuorum(note: string): boolean {
    const { witnesses, isQuorum } = this.policy;
    const { signatures } = openNote(
      note,
      witnesses.map(({ key }) => key),
    );
    const names = witnesses.filter(({ key }) => signatures.some((signature) => signature.key === key));
    return isQuorum(new Set(names.map(({ name }) => name)));
  }
}

import { readFileSync } from 'node:fs';
import {
  formatVerifierKey,
  openNote,
  parseWitnessPolicy,
  proveConsistency,
  type Witness,
  type WitnessPolicy,
} from '#packages/trail-verifier';
import { StartupError } from '#platform/host';
import { createOutboundFetch, type OutboundFetch } from '#platform/outbound';
import type { ScheduledJob } from '#platform/postgres';
import { lockUnsignedLogs } from '../checkpoints/unsigned-logs.queries.js';
import type { HistoryGuard } from '../checkpoints/history-guards.service.js';
import { checkpointMetrics } from '../checkpoints/checkpoints.metrics.js';
import { SITE_LOG } from '../tiles/hashes.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import {
  findSiteCheckpointToCosign,
  listCosignedSizes,
  storeCosignature,
  storeCosignedSize,
  type SiteCheckpoint,
} from './witness-states.queries.js';
import { MAX_ANSWER_BYTES, requestCosignature } from './witness.client.js';
import { WitnessedHistory, type ReachableWitness, type WitnessJobDependencies } from './witnessed-history.service.js';

const EVERY_MS = 10_000;
/** A witness that has lost its state answers with another size at most once in a row. */
const ATTEMPTS = 3;

/**
 * Creates the job that lets witnesses cosign the newest checkpoint of the log of the site. It is another job than the one
 * that signs, so that a witness which does not answer delays nothing.
 */
export const createTrailWitnessJob = (dependencies: WitnessJobDependencies, policyFile: string): ScheduledJob => {
  const round = new WitnessRound(dependencies, readPolicy(policyFile), createWitnessFetch());
  return { name: 'trail_witnesses', everyMs: EVERY_MS, run: ({ done }) => round.run(done) };
};

/** Creates the guard that reads the checkpoint that each witness has cosigned, before logs are signed. */
export const createWitnessGuard = (dependencies: WitnessJobDependencies, policyFile: string): HistoryGuard => {
  const { witnesses } = readPolicy(policyFile);
  const history = new WitnessedHistory(dependencies, createWitnessFetch());
  return {
    source: 'witnesses',
    check: async () => {
      const checkpoint = await findSiteCheckpointToCosign(dependencies.database);
      if (!checkpoint) return;
      const reachable = witnesses.flatMap((witness) =>
        witness.url === null ? [] : [{ ...witness, url: witness.url }],
      );
      const compared = await Promise.allSettled(reachable.map((witness) => history.compare(witness, checkpoint)));
      const failures = compared.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
      if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join('; '));
    },
  };
};

/** Only an administrator of the site chooses the addresses. */
const createWitnessFetch = (): OutboundFetch => createOutboundFetch({ privateHosts: null, maxBytes: MAX_ANSWER_BYTES });

const readPolicy = (file: string): WitnessPolicy => {
  try {
    return parseWitnessPolicy(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartupError(`CADASTRE_TRAIL_WITNESSES: ${(error as Error).message}`, { cause: error });
  }
};

class WitnessRound {
  private readonly history: WitnessedHistory;

  constructor(
    private readonly dependencies: WitnessJobDependencies,
    private readonly policy: WitnessPolicy,
    private readonly send: OutboundFetch,
  ) {
    this.history = new WitnessedHistory(dependencies, send);
  }

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
    const history = await this.history.compare(witness, checkpoint);
    if (history === 'another-history') return null;
    // Anybody can answer with a number, so that a refusal alone proves nothing.
    throw new Error(
      `the witness ${witness.name} refuses the checkpoint, and shows ${history === 'nothing' ? 'none' : 'one that it continues'}`,
    );
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

import { randomBytes } from 'node:crypto';
import type { Clock, Ids, Logger, Sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { computeRoot, EMPTY_ROOT, type LogCheckpoint, type HashSource } from '#packages/trail-verifier';
import { expectVersion, raiseConflictWhen, type EventStore } from '#storage/event-store';
import type { LogSigningKey } from '../keys/signing-keys.port.js';
import { buildFirstOrigin, buildNextOrigin } from '../logs/origin.js';
import { toTrailLogStream, trailLog, type TrailLogCommand } from '../logs/trail-log.js';
import { SITE_LOG } from '../tiles/hashes.js';
import { RightEdge } from '../tiles/right-edge.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { checkpointMetrics } from './checkpoints.metrics.js';
import { findFork, type ForkFinding } from './published-checkpoint.js';
import type { PublishedCheckpoints } from './published-checkpoints.files.js';
import { announceKey, describeKey, signCheckpoint } from './signed-note.service.js';
import {
  clearUnsigned,
  hasOtherKeys,
  insertCheckpoint,
  insertForkOfSiteLog,
  insertLogKeys,
  insertTile,
  lockUnsignedLogs,
  readOrganizationVersion,
  type LogKey,
  type UnsignedLog,
} from './unsigned-logs.queries.js';

type LogSignerOptions = {
  readonly store: EventStore;
  readonly published: PublishedCheckpoints;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
};

/**
 * Signs the next checkpoint of a log. Each step can be repeated: tiles and signatures of the same leaves are the same
 * bytes. The file store gets a checkpoint before the database does, and readers only see those of the database.
 */
export class LogSigner {
  constructor(private readonly options: LogSignerOptions) {}

  async sign(log: UnsignedLog, keys: readonly LogSigningKey[]): Promise<void> {
    if (log.size === 0) return this.commit(clearUnsigned(log.organization, 0));
    const origin =
      log.keys.at(-1)?.origin ?? buildFirstOrigin(this.options.publicUrl, log.organization, log.formerOrigins);
    const published = await this.options.published.find(log.organization);
    const { edge, root } = appendLeaves(log, published?.origin === origin ? published.size : null);
    const finding = await findFork({ ...log, origin, hasKeys: log.keys.length > 0 }, published, async (size) => {
      // The published size lies before the leaves that were read, if another process has published it late.
      const compute = (source: HashSource) => computeRoot(size, source);
      return root ?? computeWithTiles(this.options.store.database, log.organization, compute);
    });
    if (finding) return this.fork(log, keys, origin, finding);
    await this.signAs(origin, log, keys, { edge, published });
  }

  /** Adds keys that are new, signs the log up to the right edge, publishes the checkpoint and commits it. */
  private async signAs(
    origin: string,
    log: UnsignedLog,
    keys: readonly LogSigningKey[],
    { edge, published }: { readonly edge: RightEdge; readonly published: LogCheckpoint | null },
  ): Promise<void> {
    const { organization } = log;
    const tiles = edge.completed.map((tile) => insertTile(organization, tile));
    // A backlog whose beginning was published before: the next round continues.
    if (published?.origin === origin && published.size > edge.size) return this.commit(tiles);
    const { announced, insertions } = await this.addKeys(origin, log, keys);
    if (log.last?.size === edge.size) return this.commit([...tiles, ...clearUnsigned(organization, edge.size)]);
    const checkpoint = { origin, size: edge.size, root: edge.computeRoot() };
    const note = await signCheckpoint(checkpoint, keys);
    await this.options.published.write(organization, note);
    await this.commit([
      raiseConflictWhen(hasOtherKeys(announced)),
      ...insertions,
      ...tiles,
      lockUnsignedLogs,
      ...insertCheckpoint(organization, checkpoint, note, this.options.clock.now()),
      ...clearUnsigned(organization, edge.size),
    ]);
    checkpointMetrics.signed.inc();
  }

  /**
   * Adds the keys that the log does not have. If it has others, an entry announces the new one, signed by the others. The first
   * keys of an origin are returned as insertions, so that a log with keys also had a checkpoint.
   */
  private async addKeys(
    origin: string,
    log: UnsignedLog,
    keys: readonly LogSigningKey[],
  ): Promise<{ readonly announced: UnsignedLog; readonly insertions: readonly Sql[] }> {
    const signers = new Set(log.keys.filter((key) => key.origin === origin).map(({ verifierKey }) => verifierKey));
    const added = describeKeys(origin, keys).filter(({ verifierKey }) => !signers.has(verifierKey));
    const newest = added.at(-1);
    if (!newest) return { announced: log, insertions: [] };
    const statements = insertLogKeys(log.organization, log.keys.length, added, this.options.clock.now());
    if (signers.size === 0) return { announced: log, insertions: statements };
    const earlier = keys.filter((key) => signers.has(describeKey(key, origin)));
    const { verifierKey } = newest;
    const announcement = await announceKey(verifierKey, origin, earlier);
    await this.record(log, statements, { type: 'ChangeKey', data: { origin, verifierKey, announcement } });
    return { announced: { ...log, keys: [...log.keys, ...added] }, insertions: [] };
  }

  /** Gives up the origin. The entry about this is a leaf, after which the log is signed under the next origin. */
  private async fork(
    log: UnsignedLog,
    keys: readonly LogSigningKey[],
    origin: string,
    { reason, published }: ForkFinding,
  ): Promise<void> {
    const { organization } = log;
    // Without the last checkpoint, nobody knows whether the next number was used before.
    const suffix = reason === 'published_checkpoint_is_missing' ? randomBytes(4).toString('hex') : null;
    const next = buildNextOrigin(published.origin, suffix);
    if (suffix !== null) {
      // Otherwise the next round would find keys without a published checkpoint again.
      const empty = { origin: next, size: 0, root: EMPTY_ROOT };
      await this.options.published.write(organization, await signCheckpoint(empty, keys));
    }
    const fork = { origin: next, previousOrigin: published.origin, size: published.size, reason };
    const statements = [
      ...insertLogKeys(organization, log.keys.length, describeKeys(next, keys), this.options.clock.now()),
      ...(organization === SITE_LOG ? insertForkOfSiteLog(published) : []),
    ];
    await this.record(log, statements, {
      type: 'ForkLog',
      data: { ...fork, root: published.root.toString('base64') },
    });
    checkpointMetrics.forks.inc();
    this.options.logger.warn(
      { organization, previousOrigin: published.origin, origin: next, reason, currentOrigin: origin },
      'the database is older than the last published checkpoint; the log continues under another origin',
    );
  }

  /**
   * Appends an event in the transaction of the statements. The trail of a deleted organization gets no more entries, and the
   * log of the site has no trail.
   */
  private async record(
    { organization, hasTrail }: UnsignedLog,
    statements: readonly Sql[],
    command: TrailLogCommand,
  ): Promise<void> {
    if (!hasTrail) return this.commit(statements);
    const { store, ids } = this.options;
    const stream = toTrailLogStream(organization);
    await store.handle({
      decider: trailLog,
      load: async () => ({
        ...(await store.load(stream, trailLog)),
        organizationVersion: await readOrganizationVersion(store.database, organization),
      }),
      command: () => command,
      organization: () => organization,
      context: createSystemContext('audit trail log', ids.uuid()),
      preconditions: ({ organizationVersion }) => [expectVersion(organization, organizationVersion)],
      read: () => statements,
    });
  }

  private async commit(statements: readonly Sql[]): Promise<void> {
    await this.options.store.database.transaction(statements);
  }
}

/** Appends the leaves to the right edge. `root` is the root at a size that it passes; null if it does not. */
const appendLeaves = (
  { tiles, roots, leaves }: UnsignedLog,
  size: number | null,
): { readonly edge: RightEdge; readonly root: Buffer | null } => {
  const edge = new RightEdge(tiles, roots);
  let root = edge.size === size ? edge.computeRoot() : null;
  for (const leaf of leaves) {
    edge.append(leaf);
    if (edge.size === size) root = edge.computeRoot();
  }
  return { edge, root };
};

/** Returns the keys of a log, oldest first. */
const describeKeys = (origin: string, keys: readonly LogSigningKey[]): readonly LogKey[] =>
  keys.map((key) => ({ origin, verifierKey: describeKey(key, origin), source: key.source })).toReversed();

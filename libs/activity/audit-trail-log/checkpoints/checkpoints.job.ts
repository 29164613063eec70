import { Backoff, type Clock, type Logger } from '#platform/kernel';
import type { Database, JobRun, ScheduledJob } from '#platform/postgres';
import type { Settings } from '#platform/settings';
import type { BlobStore } from '#storage/blob-store';
import { SITE_LOG } from '../tiles/hashes.js';
import {
  createSigningKeys,
  type SigningKeyDependencies,
  type SigningKeySettings,
} from '../keys/configured-keys.service.js';
import { checkpointMetrics } from './checkpoints.metrics.js';
import { HistoryGuards, type HistoryGuard } from './history-guards.service.js';
import { LogSigner } from './log-signer.service.js';
import { PublishedCheckpoints } from './published-checkpoints.files.js';
import {
  findOldestUnsigned,
  listUnsignedLogs,
  loadUnsignedLogs,
  markLogsWithoutKey,
  type UnsignedLog,
} from './unsigned-logs.queries.js';

/** A checkpoint follows an entry after at most this time and the time of the round itself. */
const EVERY_MS = 5_000;
/** The log of the site changes with every other one. */
const SITE_EVERY_MS = 60_000;
const LOGS_PER_STEP = 100;
/** Requests to the file store, and to a service that signs, at the same time. */
const CONCURRENCY = 8;

/** Failures of a round that a log line contains. */
const NAMED_FAILURES = 3;

type CheckpointJobDependencies = SigningKeyDependencies & {
  readonly blobs: BlobStore;
  readonly logger: Logger;
  /** Run before the first round that signs. */
  readonly guards?: readonly HistoryGuard[];
};

type CheckpointJobSettings = SigningKeySettings & Pick<Settings, 'publicUrl'>;

/**
 * Creates the job that signs checkpoints of the logs that have new leaves. A failure in one log does not prevent the others,
 * and does not make the job fail: it would then pause, and delay the checkpoints of all logs.
 */
export const createTrailCheckpointJob = (
  dependencies: CheckpointJobDependencies,
  settings: CheckpointJobSettings,
): ScheduledJob => {
  const { store, blobs, clock, ids, logger, guards = [] } = dependencies;
  const { publicUrl } = settings;
  const { database } = store;
  const signingKeys = createSigningKeys(dependencies, settings);
  const signer = new LogSigner({ store, published: new PublishedCheckpoints(blobs), publicUrl, clock, ids, logger });
  const history = new HistoryGuards(guards, clock, logger);
  const report = createReport(logger);
  let [announced, siteSignedAt]: [string | null, number] = [null, 0];
  return {
    name: 'trail_checkpoints',
    everyMs: EVERY_MS,
    run: async (round) => {
      await reportOldest(database, clock);
      if (!(await history.pass(round.signal))) return;
      const newest = await signingKeys.findNewest();
      if (newest !== null && newest !== announced) await markLogsWithoutKey(database, newest);
      announced = newest;
      const failures: Error[] = [];
      let keys: ReturnType<typeof signingKeys.list> | null = null;
      await forEachUnsignedLog(database, round, async (log) => {
        const isSite = log.organization === SITE_LOG;
        if (isSite && clock.now().getTime() - siteSignedAt < SITE_EVERY_MS) return;
        try {
          await signer.sign(log, await (keys ??= signingKeys.list()));
          if (isSite) siteSignedAt = clock.now().getTime();
          else round.done();
        } catch (cause) {
          failures.push(new Error(`the log of ${log.organization} could not be signed`, { cause }));
        }
      });
      report(failures);
    },
    stopLeading: () => history.stopLeading(),
  };
};

/** Visits each log once, so that a log that grows all the time delays no other. */
const forEachUnsignedLog = async (
  database: Database,
  { signal }: JobRun,
  work: (log: UnsignedLog) => Promise<void>,
): Promise<void> => {
  let after = '';
  while (!signal.aborted) {
    const organizations = await listUnsignedLogs(database, after, LOGS_PER_STEP);
    if (organizations.length === 0) return;
    const logs = [...(await loadUnsignedLogs(database, organizations))];
    const takeTurns = async (): Promise<void> => {
      for (let log = logs.pop(); log && !signal.aborted; log = logs.pop()) await work(log);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, takeTurns));
    after = organizations.at(-1) ?? '';
  }
};

/** Returns a function that takes the failures of each round. The log gets one line a minute while there are some. */
const createReport = (logger: Logger): ((failures: readonly Error[]) => void) => {
  const failing = new Backoff({ logger, subject: 'signing of audit trail logs', firstMs: EVERY_MS, maxMs: EVERY_MS });
  return (failures) => {
    if (failures.length === 0) failing.succeeded();
    else failing.failed(new AggregateError(failures.slice(0, NAMED_FAILURES), describeFailures(failures)));
  };
};

const describeFailures = (failures: readonly Error[]): string => {
  const messages = failures.slice(0, NAMED_FAILURES).map(({ message }) => message);
  const others = failures.length - messages.length;
  return `${messages.join('; ')}${others > 0 ? `, and ${others} others` : ''}`;
};

const reportOldest = async (database: Database, clock: Clock): Promise<void> => {
  const since = await findOldestUnsigned(database);
  const age = since === null ? 0 : (clock.now().getTime() - Date.parse(since)) / 1_000;
  checkpointMetrics.oldestUnsigned.set(Math.max(0, age));
};

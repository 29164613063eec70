import { mkdir } from 'node:fs/promises';
import {
  readKeys,
  readPolicy,
  runReported,
  toPrintable,
  VerifierUsageError,
  VERIFIER_EXIT_CODES,
  type CommandContext,
} from './command-line.js';
import { isUrl, openLog } from './log-readers.js';
import { readCheckpoint } from './log-verification.js';
import { demandConsistency, openCheckpoint, type OpenedCheckpoint } from './opened-checkpoints.js';
import { createTileSource, type LogFileReader } from './tile-source.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import type { VerifierKey } from './verifier-keys.js';
import { CheckpointFolder, now, type WatchAlarm } from './watch-folder.js';
import { readCertificates, WatchedTimeStamps } from './watched-time-stamps.js';
import { requireQuorum, type WitnessPolicy } from './witness-policy.js';

export type WatchOptions = {
  readonly key?: readonly string[];
  readonly state?: string | undefined;
  readonly interval?: string | undefined;
  readonly stoppedAfter?: string | undefined;
  readonly webhook?: string | undefined;
  readonly once?: boolean | undefined;
  readonly policy?: string | undefined;
  readonly timeStampCa?: string | undefined;
  readonly stampedWithin?: string | undefined;
};

/** A log is read so many times in vain before the monitor reports that it stopped. */
const ATTEMPTS_BEFORE_ALARM = 3;
const DEFAULT_INTERVAL = '60s';
/** The server asks for a stamp once a day, unless a setting says otherwise. */
const DEFAULT_STAMPED_WITHIN = '2d';
const WEBHOOK_MS = 10_000;
const WEBHOOK_ATTEMPTS = 3;
/** The pause before the second attempt. The next one is ten times as long. */
const WEBHOOK_PAUSE_MS = 1_000;

/**
 * Reads the checkpoint of a log again and again, verifies that each extends the one before, and keeps them in a folder. Ends
 * with an exit code and a request to the webhook at the first rollback, fork, wrong key, or when the log stops.
 */
export const runWatch = (location: string, options: WatchOptions, context: CommandContext): Promise<number> =>
  runReported(context, async () => {
    const monitor = await TrailMonitor.create(location, options, context);
    await monitor.run();
  }).then((code) => (code === VERIFIER_EXIT_CODES.stopped ? VERIFIER_EXIT_CODES.verified : code));

class TrailMonitor {
  private latest: OpenedCheckpoint | null = null;
  private grownAt = Date.now();
  private failures = 0;

  private constructor(
    private readonly location: string,
    private readonly trust: { readonly keys: readonly VerifierKey[]; readonly policy: WitnessPolicy | null },
    private readonly state: CheckpointFolder,
    private readonly times: { readonly interval: number; readonly stoppedAfter: number | null },
    private readonly options: WatchOptions,
    private readonly context: CommandContext,
    private readonly read: LogFileReader,
    private readonly stamps: WatchedTimeStamps | null,
  ) {}

  static async create(location: string, options: WatchOptions, context: CommandContext): Promise<TrailMonitor> {
    const { interval = DEFAULT_INTERVAL, stoppedAfter, webhook, state } = options;
    if (state === undefined) throw new VerifierUsageError('--state: name the folder for checkpoints');
    if (webhook !== undefined && !(isUrl(webhook) && URL.canParse(webhook))) {
      throw new VerifierUsageError(`--webhook: must be a URL, got ${webhook}`);
    }
    const times = {
      interval: parseDuration('--interval', interval),
      stoppedAfter: stoppedAfter === undefined ? null : parseDuration('--stopped-after', stoppedAfter),
    };
    const policy = await readPolicy(options.policy);
    const keys = await readKeys(options.key ?? [], policy);
    await mkdir(state, { recursive: true });
    const read = openLog(location, context.token, context.signal);
    const folder = new CheckpointFolder(state);
    const stamps = await createWatchedTimeStamps(options, read, keys);
    const monitor = new TrailMonitor(location, { keys, policy }, folder, times, options, context, read, stamps);
    await monitor.readState();
    return monitor;
  }

  async run(): Promise<void> {
    const { interval } = this.times;
    for (;;) {
      await this.check();
      if (this.options.once) return;
      await this.context.sleep(interval);
    }
  }

  private async readState(): Promise<void> {
    const record = await this.state.read();
    if (!record) return;
    this.latest = openCheckpoint(record.note, this.trust.keys, `the checkpoint in ${this.options.state ?? ''}`);
    this.grownAt = record.time.getTime();
    this.context.print(`kept checkpoint of ${this.latest.size} entries, from ${record.time.toISOString()}`);
  }

  private async check(): Promise<void> {
    let served: OpenedCheckpoint | null = null;
    try {
      served = await readCheckpoint(this.read, this.trust.keys);
      if (this.trust.policy) requireQuorum(served, this.trust.policy);
      await this.accept(served);
      await this.checkTimeStamps(served);
      this.failures = 0;
    } catch (error) {
      this.context.signal.throwIfAborted();
      if (error instanceof TrailAlteredError) await this.raiseAlarm(error, served);
      if (!(error instanceof TrailUnreadableError)) throw error;
      this.failures += 1;
      const isAlarm = this.failures >= ATTEMPTS_BEFORE_ALARM || this.isOverdue();
      if (isAlarm) await this.raiseAlarm(error, served);
      if (this.options.once) throw error;
      this.context.printError(`${now()} cannot read the log: ${toPrintable(error.message)}`);
    }
  }

  private async accept(served: OpenedCheckpoint): Promise<void> {
    const { latest } = this;
    if (latest) await demandConsistency(latest, served, createTileSource(this.read, served.size));
    if (latest?.size === served.size) return this.reportUnchanged(served);
    await this.state.write(served.note);
    this.latest = served;
    this.grownAt = Date.now();
    const growth = latest ? `extends ${latest.size}` : 'the first that is kept';
    this.context.print(`${now()} ${toPrintable(served.origin)}: ${served.size} entries, ${growth}`);
  }

  private async checkTimeStamps(served: OpenedCheckpoint): Promise<void> {
    if (!this.stamps) return;
    const { state, files, news } = await this.stamps.check(await this.state.readStamps(), served, Date.now());
    if (files) await this.state.writeStamp(files);
    await this.state.writeStamps(state);
    if (news !== null) this.context.print(`${now()} time stamp: ${toPrintable(news)}`);
    this.stamps.requireRecent(state, Date.now());
  }

  private reportUnchanged({ size }: OpenedCheckpoint): void {
    const since = new Date(this.grownAt).toISOString();
    if (this.isOverdue()) {
      throw new TrailUnreadableError(`the log has stopped: it has ${size} entries since ${since}`);
    }
    if (this.options.once) this.context.print(`${now()} unchanged: ${size} entries since ${since}`);
  }

  /** Returns whether no new entry was read for the time after which the log counts as stopped. */
  private isOverdue(): boolean {
    const { stoppedAfter } = this.times;
    return stoppedAfter !== null && Date.now() - this.grownAt > stoppedAfter;
  }

  /** Reports the alarm and throws the error, which becomes the exit code. */
  private async raiseAlarm(
    error: TrailAlteredError | TrailUnreadableError,
    served: OpenedCheckpoint | null,
  ): Promise<never> {
    const problem = error instanceof TrailAlteredError ? error.problem : 'stopped';
    const alarm: WatchAlarm = {
      text: `Audit trail of ${this.location}: ${error.message}`,
      alarm: problem,
      log: this.location,
      time: now(),
      index: error instanceof TrailAlteredError ? error.index : null,
      checkpoints: [this.latest, served].flatMap((one) => (one ? [one.note] : [])),
    };
    try {
      // Before the file: the disk of the folder can be full.
      await this.sendAlarm(alarm);
    } finally {
      if (problem !== 'stopped') await this.keepAlarm(alarm);
    }
    throw error;
  }

  private async keepAlarm(alarm: WatchAlarm): Promise<void> {
    try {
      await this.state.writeAlarm(alarm);
    } catch (error) {
      this.context.printError(`the alarm cannot be kept: ${toPrintable((error as Error).message)}`);
    }
  }

  private async sendAlarm(alarm: WatchAlarm): Promise<void> {
    const { webhook } = this.options;
    if (webhook === undefined) return;
    for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS; attempt += 1) {
      if (attempt > 1) await this.context.sleep(WEBHOOK_PAUSE_MS * 10 ** (attempt - 2));
      try {
        const { ok, status } = await fetch(webhook, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(alarm),
          signal: AbortSignal.timeout(WEBHOOK_MS),
          redirect: 'error',
        });
        if (ok) return;
        this.context.printError(`the webhook answers ${status}`);
      } catch {
        // The URL of a webhook is a secret, and messages of fetch can contain it.
        this.context.printError('the webhook cannot be reached');
      }
    }
  }
}

const createWatchedTimeStamps = async (
  { timeStampCa, stampedWithin }: WatchOptions,
  read: LogFileReader,
  keys: readonly VerifierKey[],
): Promise<WatchedTimeStamps | null> => {
  if (timeStampCa !== undefined) {
    const within = parseDuration('--stamped-within', stampedWithin ?? DEFAULT_STAMPED_WITHIN);
    return new WatchedTimeStamps(read, { keys, certificates: await readCertificates(timeStampCa) }, within);
  }
  if (stampedWithin !== undefined) throw new VerifierUsageError('--stamped-within: needs --time-stamp-ca');
  return null;
};

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const parseDuration = (option: string, text: string): number => {
  const [, number, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const duration = Number(number) * (UNITS[unit] ?? Number.NaN);
  // A timer of Node has 31 bits.
  if (duration < 2 ** 31) return duration;
  throw new VerifierUsageError(`${option}: must be a time up to 24d, such as 60s, 10m, 1h or 7d, got ${text}`);
};

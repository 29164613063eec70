import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '#platform/kernel';
import type { ClaimedPhase, PhaseReport } from '../api/executor-api.js';
import type { PhaseJob } from '../api/phase-job.js';
import { RefusedRequestError } from '../api/server-connection.js';
import { RunError } from '../executor-error.js';
import { LogUpload } from '../output/log-upload.js';
import { listSecretsOfHcl } from '../output/secret-forms.js';
import { SecretMasker } from '../output/secret-masker.js';
import { executeApply } from './apply-phase.js';
import { FailedCommandError, type PhaseContext, type PhaseDependencies } from './phase-context.js';
import { INTERRUPT_MS } from '../stop-times.js';
import { PhaseCredentials } from './phase-credentials.js';
import { PhaseFolder } from './phase-folder.js';
import { executePlan } from './plan-phase.js';
import { PhaseStop, PhaseStoppedError, type StopReason } from './phase-stop.js';
import { RunLog } from './run-log.js';

/** How long terraform can take to end when nobody needs the phase any longer. A plan has nothing to lose. */
const LOST_LEASE_MS = { plan: 0, apply: 60_000 } as const;
/** The lease lasts a minute from each renewal. */
const RENEWAL_SECONDS = 20;
const RENEWAL_PAUSE_MS = 5_000;
/**
 * With -auto-approve, the CLI reads the run when the log of the plan has ended, up to 2 s late, and shows nothing of an apply that has
 * failed by then.
 */
const SHORTEST_FAILED_APPLY_MS = 4_000;
/** For the documents and uploads after a command that took all of its time. */
const EXTRA_SECONDS = 900;

/** The statuses of answers to reports whose contents the server does not accept. */
const REFUSED_CONTENTS: readonly number[] = [400, 413, 422];

/** Returns what must not occur in a log. */
const listSecrets = (job: PhaseJob): readonly string[] => [
  job['run-token'],
  ...(job['ssh-key'] === null ? [] : [job['ssh-key']]),
  ...job.environment.flatMap(({ value, sensitive }) => (sensitive ? [value] : [])),
  ...job.variables.flatMap(({ value, sensitive, hcl }) => (sensitive ? (hcl ? listSecretsOfHcl(value) : [value]) : [])),
];

/** The end of a phase. Null if the executor reports nothing, because its lease has ended or will end. */
type PhaseOutcome = PhaseReport | null;

const describeTimeLimit = ({ phase }: ClaimedPhase, { 'time-limit-seconds': seconds }: PhaseJob): string =>
  `The ${phase} took longer than ${seconds / 60} minutes.`;

const toStopOutcome = (reason: StopReason, claimed: ClaimedPhase, job: PhaseJob): PhaseOutcome => {
  switch (reason) {
    case 'canceled':
      return { status: 'canceled' };
    case 'time-limit':
      return { status: 'errored', message: describeTimeLimit(claimed, job) };
    case 'shutdown':
      // Another executor plans again when the lease has ended.
      return claimed.phase === 'plan'
        ? null
        : { status: 'errored', message: 'The executor was stopped while it applied. The state is stored.' };
    case 'lease-lost':
      return null;
  }
};

/** One phase of a run, from the claim to the report. */
export class PhaseRun {
  private readonly stop: PhaseStop;
  private readonly nonce = randomUUID();

  constructor(
    private readonly dependencies: PhaseDependencies,
    readonly claimed: ClaimedPhase,
    private readonly folder: PhaseFolder,
  ) {
    this.stop = new PhaseStop({ usual: INTERRUPT_MS[claimed.phase], leaseLost: LOST_LEASE_MS[claimed.phase] });
  }

  /** Stops the phase because the executor stops. */
  shutDown(): void {
    this.stop.request('shutdown');
  }

  /** Resolves when the phase has ended, and its files are gone. */
  async run(): Promise<void> {
    const { logger } = this.dependencies;
    const { run, phase, fence } = this.claimed;
    const fields = { run, phase, fence };
    logger.info(fields, 'phase started');
    const began = performance.now();
    const ended = new AbortController();
    const renewing = this.keepLease(ended.signal);
    try {
      const outcome = await this.execute();
      if (phase === 'apply' && outcome?.status === 'errored')
        await sleep(began + SHORTEST_FAILED_APPLY_MS - performance.now(), undefined, { signal: this.stop.signal });
      if (outcome !== null) await this.report(outcome);
      logger.info({ ...fields, status: outcome?.status ?? this.stop.reason }, 'phase ended');
    } catch (error) {
      if (!(error instanceof PhaseStoppedError)) logger.warn({ ...fields, err: error }, 'phase failed');
    } finally {
      ended.abort();
      await renewing;
      // Another phase of the run removes what is left.
      await this.folder.remove().catch((error: unknown) => logger.warn({ ...fields, err: error }, 'files not removed'));
    }
  }

  private async execute(): Promise<PhaseOutcome> {
    try {
      await this.folder.create();
      await this.folder.writeRecord({ ...this.claimed, nonce: this.nonce, appliedWorkspace: null });
      return await this.executeJob(await this.dependencies.api.readJob(this.claimed, this.nonce, this.stop.signal));
    } catch (error) {
      if (error instanceof PhaseStoppedError) throw error;
      // Without a report, the server would queue a plan again and again.
      return { status: 'errored', message: this.describeFailure(error) };
    }
  }

  private async executeJob(received: PhaseJob): Promise<PhaseOutcome> {
    const { logger } = this.dependencies;
    const credentials = new PhaseCredentials(this.dependencies, this.claimed, this.folder);
    try {
      const { job, failure } = await credentials.addTo(received, this.stop.signal).then(
        (completed) => ({ job: completed, failure: null }),
        // The log says why.
        (error: unknown) => ({ job: received, failure: error as Error }),
      );
      return await this.executeWithLog(job, credentials.secrets, failure);
    } finally {
      await credentials.close().catch((error: unknown) => logger.warn({ err: error }, 'credentials not revoked'));
    }
  }

  /** Fails at once if there is a failure already. */
  private async executeWithLog(
    job: PhaseJob,
    secrets: readonly string[],
    failure: Error | null,
  ): Promise<PhaseOutcome> {
    const { api, logger, now } = this.dependencies;
    const masker = new SecretMasker([...listSecrets(job), ...secrets]);
    const upload = await LogUpload.open(this.folder.log, (offset, output) =>
      api.appendLog(this.claimed, offset, output, this.stop.signal),
    );
    const log = new RunLog(upload, masker, job['structured-run-output-enabled'], now);
    const began = performance.now();
    const limit = job['time-limit-seconds'];
    const timer = setTimeout(() => this.stop.request('time-limit'), limit * 1_000);
    const getSecondsLeft = (): number =>
      Math.max(1, limit - (performance.now() - began) / 1_000) +
      INTERRUPT_MS[this.claimed.phase] / 1_000 +
      EXTRA_SECONDS;
    // Uploads that never succeed must not hold the lock of the workspace.
    const lastTimer = setTimeout(() => this.stop.request('lease-lost'), getSecondsLeft() * 1_000);
    try {
      const context = { ...this.dependencies, claimed: this.claimed, folder: this.folder, stop: this.stop };
      return await this.executePhase({ ...context, nonce: this.nonce, job, log, getSecondsLeft }, failure);
    } finally {
      clearTimeout(timer);
      clearTimeout(lastTimer);
      // Without a part of its log, a phase still has its result.
      await log.end().catch((error: unknown) => logger.warn({ err: error }, 'log not complete'));
    }
  }

  private async executePhase(context: PhaseContext, failure: Error | null): Promise<PhaseOutcome> {
    const { claimed, job, log } = context;
    try {
      if (failure !== null) throw failure;
      return await (claimed.phase === 'plan' ? executePlan(context) : executeApply(context));
    } catch (error) {
      if (error instanceof PhaseStoppedError) {
        const outcome = toStopOutcome(error.reason, claimed, job);
        if (outcome?.message !== undefined) log.writeError('The run was stopped', outcome.message);
        return outcome;
      }
      const message = log.masker.maskText(this.describeFailure(error));
      // Terraform has described its own failure.
      if (!(error instanceof FailedCommandError)) {
        log.writeError('The executor cannot continue', message);
        return { status: 'errored', message };
      }
      return {
        status: 'errored',
        message,
        ...(error.hasGeneratedConfiguration ? { 'generated-configuration': true } : {}),
      };
    }
  }

  /** Only messages for people reach the log; others may contain paths of the machine. */
  private describeFailure(error: unknown): string {
    if (error instanceof RunError) return error.message;
    this.dependencies.logger.warn({ run: this.claimed.run, err: error }, 'phase failed unexpectedly');
    if (error instanceof RefusedRequestError) return `The executor sent a request that failed: ${error.message}`;
    const code = getErrorCode(error);
    return `The executor failed unexpectedly${code === undefined ? '' : ` (${code})`}. Its own log says more.`;
  }

  private async report(outcome: PhaseReport): Promise<void> {
    const { api, logger } = this.dependencies;
    const send = (report: PhaseReport): Promise<void> => api.report(this.claimed, report, this.stop.signal);
    try {
      await send(outcome);
    } catch (error) {
      // Without a report, other executors would plan again, and their reports would be refused as well.
      const isRefused = error instanceof RefusedRequestError && REFUSED_CONTENTS.includes(error.status);
      if (!isRefused || outcome.status !== 'planned') throw error;
      logger.warn({ run: this.claimed.run, err: error }, 'report of the plan refused');
      await send({ status: 'errored', message: `The server refuses the report of the plan: ${error.detail}` });
    }
  }

  /** Renews the lease until the phase has ended. Stops the phase when the lease has ended or the run is canceled. */
  private async keepLease(ended: AbortSignal): Promise<void> {
    const { api, logger } = this.dependencies;
    while (!ended.aborted) {
      try {
        // After a cancellation, the server answers at once.
        const seconds = this.stop.reason === 'canceled' ? 0 : RENEWAL_SECONDS;
        const lease = await api.renew(this.claimed, seconds, ended);
        if (ended.aborted) return;
        if (lease === null) return this.stop.request('lease-lost');
        if (lease.isCanceled) this.stop.request('canceled');
        if (seconds === 0 || lease.isCanceled) await sleep(RENEWAL_PAUSE_MS, undefined, { signal: ended });
      } catch (error) {
        if (ended.aborted) return;
        logger.warn({ run: this.claimed.run, err: error }, 'lease not renewed');
        await sleep(RENEWAL_PAUSE_MS, undefined, { signal: ended }).catch(() => undefined);
      }
    }
  }
}

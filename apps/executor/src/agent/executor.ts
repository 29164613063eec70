import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type { ClaimedPhase, Phase } from '../api/executor-api.js';
import { RefusedRequestError } from '../api/server-connection.js';
import { ExecutorError } from '../executor-error.js';
import type { PhaseDependencies } from '../phases/phase-context.js';
import { PhaseFolder } from '../phases/phase-folder.js';
import { recoverLeftovers } from './leftovers.js';
import { PhaseRun } from '../phases/phase-run.js';

const CLAIM_SECONDS = 30;
/** If the server answers earlier than this, because too many executors wait, the next claim comes after a pause. */
const SHORT_CLAIM_MS = 10_000;
const CLAIM_PAUSE_MS = 10_000;
/** While all slots are in use, nothing else shows the server that the executor lives. */
const PING_MS = 60_000;
const EXIT_MS = 10_000;
const REGISTRATION_PAUSE_MS = 2_000;
const STOP_REPORT_MS = 15_000;

type ExecutorOptions = {
  readonly name: string;
  readonly version: string;
  /** Phases at a time. */
  readonly capacity: number;
  readonly phases: readonly Phase[];
  /** The folder of the phases. */
  readonly runsFolder: string;
  /** How long phases can run after the request to stop. */
  readonly graceMs: number;
};

/** Requests to stop: `soon` lets phases end within the grace time, `now` interrupts them. */
export type StopSignals = { readonly soon: AbortSignal; readonly now: AbortSignal };

const waitForAbort = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** Claims phases of runs and executes them, until it is stopped. */
export class Executor {
  private readonly running = new Map<PhaseRun, Promise<void>>();
  /** The end of the last phase of each run, which may still remove its files. */
  private readonly lastPhases = new Map<string, Promise<void>>();

  constructor(
    private readonly dependencies: PhaseDependencies,
    private readonly options: ExecutorOptions,
  ) {}

  async run(stop: StopSignals): Promise<void> {
    const { api, logger } = this.dependencies;
    let agent: string | null = null;
    try {
      await recoverLeftovers(this.dependencies, this.options.runsFolder, stop.soon);
      agent = await this.register(stop.soon);
      while (!stop.soon.aborted) agent = await this.takeNext(agent, stop.soon);
    } catch (error) {
      if (!stop.soon.aborted) throw error;
    } finally {
      await this.finishPhases(stop);
      if (agent !== null) {
        const ping = api.ping(agent, 'exited', AbortSignal.timeout(EXIT_MS));
        await ping.catch((error: unknown) => logger.warn({ err: error }, 'the end of the executor was not reported'));
      }
    }
  }

  private async register(signal: AbortSignal): Promise<string> {
    const { api, logger } = this.dependencies;
    const { name, version, capacity, phases } = this.options;
    try {
      const agent = await api.register({ name, version, capacity, phases }, signal);
      logger.info({ agent, name, capacity, phases }, 'executor registered');
      return agent;
    } catch (error) {
      throw toFinalError(error);
    }
  }

  /** Starts the next phase, or waits. Resolves to the id of the agent, which is another one if the server has deleted it. */
  private async takeNext(agent: string, signal: AbortSignal): Promise<string> {
    const { logger } = this.dependencies;
    try {
      if (this.running.size >= this.options.capacity) await this.waitForSlot(agent, signal);
      else await this.claimNext(agent, signal);
      return agent;
    } catch (error) {
      if (!(error instanceof RefusedRequestError) || ![404, 410].includes(error.status)) throw toFinalError(error);
      logger.warn({ agent }, 'the server does not know this agent any longer, so it registers again');
      await sleep(REGISTRATION_PAUSE_MS, undefined, { signal });
      return this.register(signal);
    }
  }

  private async claimNext(agent: string, signal: AbortSignal): Promise<void> {
    const { api } = this.dependencies;
    const began = performance.now();
    const claimed = await api.claim(agent, this.options.phases, CLAIM_SECONDS, signal);
    if (claimed !== null) return this.start(claimed);
    if (performance.now() - began < SHORT_CLAIM_MS)
      await sleep(CLAIM_PAUSE_MS * (0.5 + Math.random()), undefined, { signal });
  }

  private start(claimed: ClaimedPhase): void {
    const { run } = claimed;
    const phase = new PhaseRun(this.dependencies, claimed, new PhaseFolder(join(this.options.runsFolder, run)));
    const before = this.lastPhases.get(run) ?? Promise.resolve();
    const ended = before
      .then(() => phase.run())
      .finally(() => {
        this.running.delete(phase);
        if (this.lastPhases.get(run) === ended) this.lastPhases.delete(run);
      });
    this.running.set(phase, ended);
    this.lastPhases.set(run, ended);
  }

  private async waitForSlot(agent: string, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const either = AbortSignal.any([signal, waiting.signal]);
    try {
      await Promise.race([...this.running.values(), sleep(PING_MS, undefined, { signal: either })]);
    } finally {
      waiting.abort();
    }
    if (this.running.size >= this.options.capacity) await this.dependencies.api.ping(agent, 'busy', signal);
  }

  private async finishPhases({ now }: StopSignals): Promise<void> {
    const { logger } = this.dependencies;
    const { graceMs } = this.options;
    const ended = Promise.all(this.running.values());
    const describe = () => [...this.running.keys()].map(({ claimed: { run, phase } }) => ({ run, phase }));
    const report = (): void => logger.info({ phases: describe(), graceMs }, 'waiting for running phases');
    if (this.running.size > 0) report();
    const reports = setInterval(report, STOP_REPORT_MS);
    const timer = new AbortController();
    const either = AbortSignal.any([now, timer.signal]);
    const grace = sleep(graceMs, undefined, { signal: either }).catch(() => undefined);
    await Promise.race([ended, grace, waitForAbort(now)]);
    timer.abort();
    if (this.running.size > 0) logger.info({ phases: describe() }, 'interrupting running phases');
    for (const phase of this.running.keys()) phase.shutDown();
    await ended.finally(() => clearInterval(reports));
  }
}

/** Returns the error that the operator can correct. */
const toFinalError = (error: unknown): unknown => {
  if (!(error instanceof RefusedRequestError)) return error;
  if (error.status === 401)
    return new ExecutorError('refused', 'The server does not accept the token. Create a new token of the agent pool.');
  if (error.status === 404)
    return new ExecutorError(
      'refused',
      'The server does not accept this token for executors. Use a token of an agent pool.',
    );
  return new ExecutorError('refused', `The server refuses this executor: ${error.detail}`);
};

import type { SandboxedProcess } from '../sandbox/sandbox.js';

/**
 * Why a phase ends early. `lease-lost`: the server has given the phase to another executor, or has ended it. `shutdown`: the
 * executor stops.
 */
export type StopReason = 'canceled' | 'time-limit' | 'lease-lost' | 'shutdown';

/** Thrown by the steps of a phase after its stop. */
export class PhaseStoppedError extends Error {
  override readonly name = 'PhaseStoppedError';

  constructor(readonly reason: StopReason) {
    super(`the phase was stopped: ${reason}`);
  }
}

/** How long commands can take to end after a SIGINT. */
type Graces = {
  readonly usual: number;
  /** After a lost lease, another run can use the workspace. */
  readonly leaseLost: number;
};

/**
 * Stops the commands of a phase: terraform gets one SIGINT, and after the grace time everything is killed. The first reason counts,
 * except that a lost lease replaces each other one.
 */
export class PhaseStop {
  private currentReason: StopReason | null = null;
  private process: SandboxedProcess | null = null;
  private timer: NodeJS.Timeout | null = null;
  private readonly controller = new AbortController();

  constructor(private readonly graces: Graces) {}

  get reason(): StopReason | null {
    return this.currentReason;
  }

  /** Aborts when nothing of the phase counts any longer. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  request(reason: StopReason): void {
    if (this.currentReason === 'lease-lost' || (this.currentReason !== null && reason !== 'lease-lost')) return;
    this.currentReason = reason;
    this.interrupt();
    if (reason === 'lease-lost') this.controller.abort(new PhaseStoppedError(reason));
  }

  /** Throws if the phase was stopped. */
  throwIfRequested(): void {
    if (this.currentReason !== null) throw new PhaseStoppedError(this.currentReason);
  }

  /** Waits for a command, which a stop interrupts. */
  async supervise<T>(process: SandboxedProcess, work: Promise<T>): Promise<T> {
    this.process = process;
    if (this.currentReason !== null) this.interrupt();
    try {
      return await work;
    } finally {
      this.clearTimer();
      this.process = null;
    }
  }

  private interrupt(): void {
    const { process } = this;
    if (!process) return;
    const grace = this.currentReason === 'lease-lost' ? this.graces.leaseLost : this.graces.usual;
    if (grace === 0) return process.kill();
    process.interrupt();
    this.clearTimer();
    this.timer = setTimeout(() => process.kill(), grace);
  }

  private clearTimer(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }
}

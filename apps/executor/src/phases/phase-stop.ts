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

/**
 * Stops the commands of a phase: terraform gets one SIGINT, and after the grace time everything is killed. Whatever
 * reason comes first counts, except that a lost lease kills at once.
 */
export class PhaseStop {
  private currentReason: StopReason | null = null;
  private process: SandboxedProcess | null = null;
  private timer: NodeJS.Timeout | null = null;
  private readonly controller = new AbortController();

  constructor(private readonly graceMs: number) {}

  get reason(): StopReason | null {
    return this.currentReason;
  }

  /** Aborts when nothing of the phase counts any longer. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  request(reason: StopReason): void {
    if (reason === 'lease-lost') {
      this.currentReason = reason;
      this.controller.abort(new PhaseStoppedError(reason));
      this.process?.kill();
      return;
    }
    if (this.currentReason !== null) return;
    this.currentReason = reason;
    this.interrupt();
  }

  /** Throws if the phase was stopped. */
  throwIfRequested(): void {
    if (this.currentReason !== null) throw new PhaseStoppedError(this.currentReason);
  }

  /** Waits for a command, which a stop interrupts. */
  async supervise<T>(process: SandboxedProcess, work: Promise<T>): Promise<T> {
    this.process = process;
    if (this.currentReason === 'lease-lost') process.kill();
    else if (this.currentReason !== null) this.interrupt();
    try {
      return await work;
    } finally {
      if (this.timer) clearTimeout(this.timer);
      this.process = null;
    }
  }

  private interrupt(): void {
    const { process } = this;
    if (!process) return;
    process.interrupt();
    this.timer = setTimeout(() => process.kill(), this.graceMs);
  }
}

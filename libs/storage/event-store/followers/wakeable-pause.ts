/** `news`: the log may have grown. `urgent`: somebody waits. */
type WakeReason = 'news' | 'urgent';

/** Pauses of one loop. A reason that comes between two pauses ends the next one at once. */
export class WakeablePause {
  private readonly reasons = new Set<WakeReason>();
  private check: () => void = () => undefined;

  wake(reason: WakeReason): void {
    this.reasons.add(reason);
    this.check();
  }

  /** Forgets the reasons until now. Call it before work that takes them into account. */
  clear(): void {
    this.reasons.clear();
  }

  /** Waits. Resolves early, to true, for these reasons. */
  async wait(ms: number, reasons: readonly WakeReason[]): Promise<boolean> {
    const isWoken = (): boolean => reasons.some((reason) => this.reasons.has(reason));
    if (isWoken()) return true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.check = () => {
        if (!isWoken()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    return isWoken();
  }
}

/** Counts open streams, of all callers and of each caller. */
export class StreamSlots {
  private total = 0;
  private readonly byCaller = new Map<string, number>();

  constructor(readonly limits: { readonly total: number; readonly perCaller: number }) {}

  /** Takes a place. Returns the limit that is reached, or null. */
  take(caller: string): 'total' | 'perCaller' | null {
    const own = this.byCaller.get(caller) ?? 0;
    if (own >= this.limits.perCaller) return 'perCaller';
    if (this.total >= this.limits.total) return 'total';
    this.total += 1;
    this.byCaller.set(caller, own + 1);
    return null;
  }

  free(caller: string): void {
    const own = (this.byCaller.get(caller) ?? 0) - 1;
    if (own > 0) this.byCaller.set(caller, own);
    else this.byCaller.delete(caller);
    this.total -= 1;
  }
}

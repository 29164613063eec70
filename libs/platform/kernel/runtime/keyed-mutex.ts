/**
 * Runs work one at a time for each key, in order of arrival. Without it, each of fifty simultaneous appends to one
 * stream would fail and decide again most of the time.
 */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key) ?? Promise.resolve();
    // Continues even if the previous work failed.
    const mine = before.then(work, work);
    this.last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.last.get(key) === mine) this.last.delete(key);
    }
  }
}

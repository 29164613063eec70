/**
 * One after the other, in the order in which they came, for each key. Whoever appends to one stream at the same time as
 * fifty others would be too late most of the time, and decide anew each time.
 */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key) ?? Promise.resolve();
    // Whatever became of the one before.
    const mine = before.then(work, work);
    this.last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.last.get(key) === mine) this.last.delete(key);
    }
  }
}

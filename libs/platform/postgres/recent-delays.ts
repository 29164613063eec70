const SIZE = 32;

/** The last durations of an operation, in milliseconds. */
export class RecentDelays {
  private readonly values = new Float64Array(SIZE);
  private count = 0;

  add(milliseconds: number): void {
    this.values[this.count % SIZE] = milliseconds;
    this.count += 1;
  }

  /** Returns the median; 0 if there is no duration. */
  computeMedian(): number {
    const lastValues = this.values.slice(0, Math.min(this.count, SIZE)).sort();
    return lastValues[Math.floor(lastValues.length / 2)] ?? 0;
  }
}

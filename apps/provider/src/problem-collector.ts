import { Refusal } from '#kernel';
import { createRefusedError } from './command-error.js';

/** Everything that is wrong with a release, to be told at once. */
export class ProblemCollector {
  private readonly problems: string[] = [];

  add(problem: string): void {
    this.problems.push(problem);
  }

  /** Notes what is refused, and resolves to undefined then. */
  async collect<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      for (const { detail } of error.problems) this.add(detail);
      return undefined;
    }
  }

  throwIfAny(): void {
    if (this.problems.length > 0) throw createRefusedError(...this.problems);
  }
}

import { Refusal } from '#platform/kernel';
import { createRefusedError } from './command-error.js';

/** Collects the problems of a release, so that they are reported together. */
export class ProblemCollector {
  private readonly problems: string[] = [];

  add(problem: string): void {
    this.problems.push(problem);
  }

  /** Runs the work. A refusal is collected, and the result is then undefined. */
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

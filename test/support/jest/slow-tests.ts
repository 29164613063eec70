import type { Reporter, TestResult } from '@jest/reporters';

const SLOW_MS = 10_000;

type Slow = { readonly title: string; readonly ms: number };

/** Lists slow tests at the end. Jest itself only marks their files. */
export default class SlowTests implements Pick<Reporter, 'onTestResult' | 'onRunComplete'> {
  private readonly slow: Slow[] = [];

  onTestResult(_: unknown, { testFilePath, testResults }: TestResult): void {
    for (const { duration, ancestorTitles, title } of testResults)
      if (duration && duration > SLOW_MS)
        this.slow.push({ title: [testFilePath, ...ancestorTitles, title].join(' › '), ms: duration });
  }

  onRunComplete(): void {
    if (this.slow.length === 0) return;
    const lines = this.slow
      .toSorted((a, b) => b.ms - a.ms)
      .map(({ title, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${title}`);
    process.stderr.write(`\nTests that took more than ${SLOW_MS / 1000} s:\n${lines.join('\n')}\n`);
  }
}

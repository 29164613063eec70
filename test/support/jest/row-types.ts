import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AggregatedResult, Reporter } from '@jest/reporters';

/** The options of the Jest run that decide whether it is complete. */
type Selection = {
  readonly testPathPatterns: { isSet(): boolean };
  readonly testNamePattern?: string | undefined;
  readonly onlyChanged: boolean;
  readonly onlyFailures: boolean;
  readonly findRelatedTests: boolean;
  readonly shard?: object | undefined;
};

const importCompiled = async <T>(file: string): Promise<T> =>
  (await import(
    pathToFileURL(join(process.env['CADASTRE_TEST_BUILD'] ?? '', 'dist/test/support/rows', file)).href
  )) as T;

/**
 * Compares the rows that the tests have read with the types that the code gives them (ADR 39), after a run of all
 * tests. `CADASTRE_CHECK_ROWS=1` compares them after a run of some tests as well.
 */
export default class RowTypes implements Pick<Reporter, 'onRunComplete' | 'getLastError'> {
  private readonly isWholeRun: boolean;
  private error: Error | undefined;

  constructor({ testPathPatterns, testNamePattern, ...selection }: Selection) {
    const { onlyChanged, onlyFailures, findRelatedTests, shard } = selection;
    const isPart = testPathPatterns.isSet() || onlyChanged || onlyFailures || findRelatedTests;
    this.isWholeRun = !isPart && !testNamePattern && !shard;
  }

  /** Also states the difference in the results, so that a report in JSON has it. */
  async onRunComplete(_contexts: unknown, results: AggregatedResult): Promise<void> {
    if (!this.isWholeRun && process.env['CADASTRE_CHECK_ROWS'] === undefined) return;
    const { checkRecordings } =
      await importCompiled<typeof import('../rows/check-recordings.js')>('check-recordings.js');
    const { problems, unseen } = await checkRecordings();
    const lines = [
      ...problems,
      ...(this.isWholeRun ? unseen.map((callSite) => `${callSite}: no test reads these rows`) : []),
    ];
    if (lines.length === 0) return;
    this.error = new Error(`Rows differ from their types:\n${lines.join('\n')}`);
    results.runExecError = { message: this.error.message, stack: undefined };
    process.stderr.write(`\n${this.error.message}\n`);
  }

  getLastError(): Error | undefined {
    return this.error;
  }
}

import { readFileSync } from 'node:fs';

// Prints what failed in a run of Jest, and how many tests passed and failed, from the report that `jest --json` writes.

type JestReport = {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
  /** The tests read rows that differ from their types. */
  readonly runExecError?: { readonly message: string };
};

/** Returns a line for each test that failed. A file that cannot even be loaded has no tests, and counts as one. */
const listFailures = ({ testResults, runExecError }: JestReport): readonly string[] => [
  ...testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length > 0) return failed.map(({ fullName }) => `${name}: ${fullName}`);
    return status === 'failed' ? [`${name}: ${message}`] : [];
  }),
  ...(runExecError ? [runExecError.message] : []),
];

const text = readFileSync(process.argv[2] ?? '', 'utf8');
if (text === '') {
  console.log('Jest ended without a report.\n0 passed, 1 failed');
} else {
  const report = JSON.parse(text) as JestReport;
  const failures = listFailures(report);
  const skipped = report.numPendingTests + report.numTodoTests;
  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`${report.numPassedTests} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
}

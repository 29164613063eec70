// Prints the failures of a run of Jest from the report of `jest --json`.

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

/** Returns a line for each failure, and a last line with the numbers of tests that passed and failed. */
export const formatSummary = (report: string): string => {
  if (report === '') return 'Jest ended without a report.\n0 passed, 1 failed';
  const parsed = JSON.parse(report) as JestReport;
  const failures = listFailures(parsed);
  const skipped = parsed.numPendingTests + parsed.numTodoTests;
  const numbers = `${parsed.numPassedTests} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return [...failures.map((failure) => `failed: ${failure}`), numbers].join('\n');
};

// Prints the failures of a complete run, each as the command that repeats it alone.

type TestOutcome = {
  readonly status: string;
  readonly ancestorTitles: readonly string[];
  readonly title: string;
};

type JestReport = {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly TestOutcome[];
  }[];
  /** The tests read rows that differ from their types. */
  readonly runExecError?: { readonly message: string };
};

/** The checks beside the tests: their exit code, and what `npm run check` has printed. */
export type CheckOutcome = { readonly code: number; readonly output: string };

/** The titles that the runner gives to failed hooks. `-t` selects no hook, but runs the hooks of what it selects. */
const HOOK = /^\((?:before|after)(?:All|Each)\)$/;

const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a pattern for `-t` that matches this title alone. */
const buildTitlePattern = ({ ancestorTitles, title }: TestOutcome): string => {
  const fullTitle = [...ancestorTitles, title].join(' ');
  return `^${fullTitle.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}$`;
};

const formatTestCommand = (file: string, test: TestOutcome): string =>
  HOOK.test(test.title) ? `npm test -- ${file}` : `npm test -- ${file} -t ${quoteForShell(buildTitlePattern(test))}`;

/** Returns a command for each test that failed. A file that cannot be loaded has no tests, and counts as one failure. */
const listFailedTests = ({ testResults }: JestReport, root: string): readonly string[] =>
  testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.replace(`${root}/`, '');
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length > 0) return failed.map((test) => formatTestCommand(file, test));
    return status === 'failed' ? [`npm test -- ${file}`] : [];
  });

/** Returns a command for each check that failed. `npm run check` names them. */
const listFailedChecks = ({ code, output }: CheckOutcome): readonly string[] => {
  if (code === 0) return [];
  const commands = [...output.matchAll(/^FAILED: (npm run \S+)$/gm)].map(([, command = '']) => command);
  return commands.length > 0 ? commands : ['npm run check'];
};

const format = (failures: readonly string[], numbers: string): string =>
  [...new Set(failures)]
    .map((command) => `failed: ${command}`)
    .concat(numbers)
    .join('\n');

/**
 * Returns a line for each failure, and a last line with the numbers of tests and checks that passed and failed. `report` is
 * the text that `jest --json` has written.
 */
export const formatSummary = (report: string, checks: CheckOutcome, root: string): string => {
  const failedChecks = listFailedChecks(checks);
  if (report === '')
    return `Jest ended without a report.\n${format(['npm test', ...failedChecks], '0 passed, 1 failed')}`;
  const parsed = JSON.parse(report) as JestReport;
  const { numPassedTests, numPendingTests, numTodoTests, runExecError } = parsed;
  // Only a complete run reads all rows.
  const failures = [...listFailedTests(parsed, root), ...failedChecks, ...(runExecError ? ['npm test'] : [])];
  const skipped = numPendingTests + numTodoTests;
  const numbers = `${numPassedTests} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return `${runExecError ? `${runExecError.message}\n` : ''}${format(failures, numbers)}`;
};

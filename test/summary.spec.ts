import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { formatSummary } from './summary.js';

const PASSED_CHECKS = { code: 0, output: 'passed: npm run check:words\n' };

type Tests = readonly (readonly [status: string, ...titles: readonly string[]])[];

const fileOf = (name: string, status: string, tests: Tests): object => ({
  name: `/repository/${name}`,
  status,
  assertionResults: tests.map(([outcome, ...titles]) => ({
    status: outcome,
    ancestorTitles: titles.slice(0, -1),
    title: titles.at(-1),
  })),
});

const reportOf = (files: readonly object[], more: object = {}): string =>
  JSON.stringify({ numPassedTests: 7, numPendingTests: 0, numTodoTests: 0, testResults: files, ...more });

const summarize = (files: readonly object[], more: object = {}): readonly string[] =>
  formatSummary(reportOf(files, more), PASSED_CHECKS, '/repository').split('\n');

/** Returns the arguments that a shell passes to `npm`. */
const parseInShell = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', command.replace('npm', `printf '%s\\0'`)], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

describe('the summary of a complete run', () => {
  it('has one line if everything passed', () => {
    expect(summarize([fileOf('libs/a.spec.ts', 'passed', [['passed', 'works']])])).toEqual(['7 passed, 0 failed']);
  });

  it('names the command that repeats each failed test', () => {
    const tests: Tests = [
      ['failed', 'a lock', 'is released'],
      ['passed', 'a lock', 'is taken'],
    ];
    expect(summarize([fileOf('libs/a.spec.ts', 'failed', tests)])).toEqual([
      "failed: npm test -- libs/a.spec.ts -t '^a lock is released$'",
      '7 passed, 1 failed',
    ]);
  });

  it('names a pattern that matches the title alone, whatever characters the title has', () => {
    const title = `refuses "it's" $HOME \\d (a|b) [x]{2} ^.*+?\nin two lines`;
    const [line = ''] = summarize([fileOf('libs/a.spec.ts', 'failed', [['failed', 'a value', title]])]);
    const args = parseInShell(line.replace('failed: ', ''));
    expect(args.slice(0, -1)).toEqual(['test', '--', 'libs/a.spec.ts', '-t']);
    const pattern = new RegExp(args.at(-1) ?? '', 'i');
    expect(pattern.test(`a value ${title}`)).toBe(true);
    expect(pattern.test(`a value ${title} and more`)).toBe(false);
    expect(pattern.test(`a value ${title.replace('(a|b)', 'a')}`)).toBe(false);
  });

  it('names a file once for failed hooks, and for a file that cannot be loaded', () => {
    const hooks: Tests = [
      ['failed', 'a block', '(beforeAll)'],
      ['failed', 'a block', '(afterAll)'],
    ];
    expect(summarize([fileOf('libs/a.spec.ts', 'failed', hooks), fileOf('libs/b.spec.ts', 'failed', [])])).toEqual([
      'failed: npm test -- libs/a.spec.ts',
      'failed: npm test -- libs/b.spec.ts',
      '7 passed, 3 failed',
    ]);
  });

  it('names failed checks', () => {
    const output = '\npassed: npm run check:words\n\nFAILED: npm run check:lint\nan error\n';
    const lines = formatSummary(reportOf([]), { code: 1, output }, '/repository').split('\n');
    expect(lines).toEqual(['failed: npm run check:lint', '7 passed, 1 failed']);
    const crashed = formatSummary(reportOf([]), { code: 1, output: '' }, '/repository').split('\n');
    expect(crashed).toEqual(['failed: npm run check', '7 passed, 1 failed']);
  });

  it('names rows that differ from their types, and skipped tests', () => {
    const more = { runExecError: { message: 'Rows differ from their types:\na.ts:1' }, numPendingTests: 2 };
    expect(summarize([], more)).toEqual([
      'Rows differ from their types:',
      'a.ts:1',
      'failed: npm test',
      '7 passed, 1 failed, 2 skipped',
    ]);
  });

  it('fails without a report', () => {
    expect(formatSummary('', PASSED_CHECKS, '/repository').split('\n')).toEqual([
      'Jest ended without a report.',
      'failed: npm test',
      '0 passed, 1 failed',
    ]);
  });
});

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  describeMissingPrograms,
  listMissingPrograms,
  listNeeds,
  listPackages,
  type ProgramName,
} from './support/programs.ts';
import { formatSummary, type CheckOutcome } from './summary.ts';

// `npm test`: installs the programs that the selected tests need, and runs Jest. Without arguments it also runs the checks of
// `npm run check`, and ends with the commands that repeat each failure, and a line that says how many tests passed and failed.

const ROOT = join(import.meta.dirname, '..');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const selection = process.argv.slice(2);

/** Returns the specs that Jest runs with these arguments. */
const listSpecs = (): readonly string[] => {
  const { stdout } = spawnSync(process.execPath, [JEST, ...selection, '--listTests'], { cwd: ROOT, encoding: 'utf8' });
  return stdout.match(/\/[^"\n]+\.spec\.ts/g) ?? [];
};

const installWithApt = (missing: readonly ProgramName[]): boolean => {
  const packages = listPackages(missing);
  process.stderr.write(`Installing ${packages.join(', ')} with apt-get, because tests need ${missing.join(', ')} …\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const steps = [['update'], ['install', '--yes', '--no-install-recommends', ...packages]];
  return steps.every(
    (args) => spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0,
  );
};

/** Installs the missing programs if it can. Returns an instruction for the reader, or null if nothing is missing. */
const installPrograms = (needed: readonly ProgramName[]): string | null => {
  const missing = listMissingPrograms(needed);
  if (missing.length === 0) return null;
  const hasApt = spawnSync('apt-get', ['--version']).status === 0;
  const isRoot = process.getuid?.() === 0;
  if (!hasApt || !isRoot || !installWithApt(missing)) return describeMissingPrograms(missing, hasApt);
  const left = listMissingPrograms(missing);
  return left.length === 0 ? null : `apt-get has not installed ${left.join(', ')}: install newer versions by hand.\n`;
};

/** Runs the scripts that build or download programs. They do so once for each version, and print it. */
const buildPrograms = (scripts: readonly string[]): string | null => {
  const failed = scripts.find(
    (script) => spawnSync('bash', [join(ROOT, script)], { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0,
  );
  return failed === undefined ? null : `${failed} has failed, and the selected tests need what it builds.\n`;
};

const children = new Set<ChildProcess>();

const runToEnd = async (child: ChildProcess): Promise<number> => {
  children.add(child);
  const [code] = (await once(child, 'close')) as [number | null];
  children.delete(child);
  return code ?? 1;
};

/**
 * Flags of V8 for Jest and its workers. A worker loads much and keeps little of what a test allocates: with 64 MiB for new
 * objects instead of 16, and without threads that wait for each other, the collection of garbage took 8% less of its CPU.
 */
const V8_FLAGS = ['--max-semi-space-size=64', '--min-semi-space-size=32', '--single-threaded-gc'];

const runJest = (args: readonly string[]): Promise<number> =>
  runToEnd(spawn(process.execPath, [...V8_FLAGS, JEST, ...args], { cwd: ROOT, stdio: 'inherit' }));

/** Runs the checks with a low priority, beside the tests, which leave a part of the processors idle. */
const runChecks = async (): Promise<CheckOutcome> => {
  const output: Buffer[] = [];
  const child = spawn('nice', ['-n', '10', 'npm', 'run', 'check'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  return { code: await runToEnd(child), output: Buffer.concat(output).toString() };
};

const runEverything = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'cadastre-report-'));
  const report = join(folder, 'report.json');
  try {
    writeFileSync(report, '');
    const [tests, checks] = await Promise.all([runJest(['--json', `--outputFile=${report}`]), runChecks()]);
    console.log(checks.output);
    console.log(formatSummary(readFileSync(report, 'utf8'), checks, ROOT));
    return tests || checks.code;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

// A terminal sends SIGINT to the children too, and Jest stops its servers. Other signals reach only this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (signal === 'SIGTERM') for (const child of children) child.kill(signal);
  });

const needed = listNeeds(ROOT, listSpecs());
const problem = installPrograms(needed.programs) ?? buildPrograms(needed.scripts);
if (problem === null) {
  process.exitCode = await (selection.length === 0 ? runEverything() : runJest(selection));
} else {
  process.stderr.write(problem);
  process.exitCode = 1;
}

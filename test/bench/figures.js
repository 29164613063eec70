// The figures of a run, in one form for all commands: for JSON files, the report and comparisons.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { PROJECT } from './product.js';
import { median } from './statistics.js';

const FORMAT = 1;
const BYTES_PER_GB = 1e9;

/**
 * One measured quantity. `values`: one for each round. `better`: 'lower', 'higher', or null if it depends on the
 * machine more than on the product, such as requests per second. `budget`: null, or the limit of the median.
 */
export const figure = (group, name, variant, metric, values, { unit = '', better = null, budget = null } = {}) => ({
  group,
  case: name,
  variant: String(variant),
  metric,
  unit,
  better,
  budget,
  values: values.filter((value) => Number.isFinite(value)),
});

export const keyOf = ({ group, case: name, variant, metric }) => [group, name, variant, metric].join(' / ');

export const summarize = (values) => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

export const isWithinBudget = ({ values, better, budget }) =>
  better === 'higher' ? median(values) >= budget : median(values) <= budget;

const commitOf = (folder) => {
  try {
    const run = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
    return `${run('rev-parse', '--short=12', 'HEAD')}${run('status', '--porcelain', '--untracked-files=no') ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
};

const describeMachine = () => {
  const all = cpus();
  return `${all.length} × ${all[0]?.model ?? 'CPU'}, ${(totalmem() / BYTES_PER_GB).toFixed(0)} GB, Node ${process.versions.node}`;
};

/** Writes a run to a file. */
export const saveFigures = async (file, command, figures) => {
  const run = {
    format: FORMAT,
    commit: commitOf(PROJECT),
    date: new Date().toISOString(),
    machine: describeMachine(),
    command,
    figures: figures.filter(({ values }) => values.length > 0),
  };
  await writeFile(file, `${JSON.stringify(run, null, 1)}\n`);
};

export const loadRun = async (file) => {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`${file}: cannot be read. Make it with: npm run bench -- rest --json ${file}`);
  });
  let run;
  try {
    run = JSON.parse(text);
  } catch {
    throw new Error(`${file}: contains no JSON`);
  }
  if (run.format !== FORMAT) throw new Error(`${file}: has format ${run.format}, this bench reads format ${FORMAT}`);
  return run;
};

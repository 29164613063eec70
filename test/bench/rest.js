// REST compared with its bounds. They take turns, so that other load on the machine affects all of them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBounds } from './bounds.js';
import { memoryOfFamily, peakMemoryOf } from './proc.js';
import { missingPrograms } from './programs.js';
import { medians } from './statistics.js';
import { measure, openSubject } from './subjects.js';
import { table, verdict } from './table.js';

const GATEWAY_MB = 200;

/** Each case with its bound and its budget: the share of the bound's rate, and CPU ms per request. */
const CASES = {
  get: { title: 'GET workspace', bound: 'get', share: 0.4, cpu: 0.25 },
  list: { title: 'list of 20', bound: 'list', share: 0.1, cpu: 1.2 },
  lock: { title: 'lock, unlock', bound: 'update', share: 0.4, cpu: 0.7 },
  patch: { title: 'PATCH', bound: 'update', share: 0.4, cpu: 0.7 },
  create: { title: 'create', bound: 'insert', share: 0.4, cpu: 0.7 },
};

const digits = (value, decimals) => (Number.isFinite(value) ? value.toFixed(decimals) : '–');

const HEADER = [
  'case',
  'conns',
  'req/s',
  'p50 ms',
  'p99 ms',
  'errors',
  'node',
  'postgres',
  'CPU ms',
  'budget',
  '',
  'bound/s',
  'its CPU',
  'ratio',
  'budget',
  '',
];

const rowOf = ({ title, share, cpu }, connections, measured, bound, label) => {
  const { rate, p50, p99, errors, node, postgres } = medians(measured);
  const total = node + postgres;
  const { rate: boundRate, cpu: boundCpu } = medians(bound);
  const ratio = medians(measured.map((each, n) => ({ ratio: each.rate / bound[n].rate }))).ratio;
  return [
    label === '' ? title : `${title} (${label})`,
    connections,
    digits(rate, 0),
    digits(p50, 2),
    digits(p99, 2),
    errors === 0 ? measured.reduce((sum, each) => sum + each.errors, 0) : errors,
    digits(node, 3),
    digits(postgres, 3),
    digits(total, 3),
    `≤ ${cpu}`,
    verdict(total <= cpu),
    digits(boundRate, 0),
    digits(boundCpu, 3),
    digits(ratio, 2),
    `≥ ${share}`,
    verdict(ratio >= share),
  ];
};

const warmUp = async (subjects, bounds, cases) => {
  for (const mode of cases) {
    for (const subject of subjects) await measure(subject, mode, 16, 1);
    await bounds.run(CASES[mode].bound, 16, 1);
  }
};

/** Returns all measurements by key: `lock 16 A`, `lock 16 bound`. */
const takeTurns = async (subjects, bounds, { rounds, cases, connections, seconds }) => {
  const results = new Map();
  const addResult = (key, value) => results.set(key, [...(results.get(key) ?? []), value]);
  const measureCase = async (mode, count, order) => {
    addResult(`${mode} ${count} bound`, await bounds.run(CASES[mode].bound, count, seconds));
    for (const subject of order)
      addResult(`${mode} ${count} ${subject.name}`, await measure(subject, mode, count, seconds));
  };
  for (let round = 0; round < rounds; round += 1) {
    // The later subject runs on a warmer machine, so they take turns at being first.
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const mode of cases) for (const count of connections) await measureCase(mode, count, order);
    process.stderr.write(`round ${round + 1} of ${rounds} completed\n`);
  }
  return results;
};

const rowsOf = (results, subjects, { cases, connections }) => {
  const label = (name) => (subjects.length > 1 ? name : '');
  return cases.flatMap((mode) =>
    connections.flatMap((count) =>
      subjects.map(({ name }) => {
        const bound = results.get(`${mode} ${count} bound`);
        return rowOf(CASES[mode], count, results.get(`${mode} ${count} ${name}`), bound, label(name));
      }),
    ),
  );
};

const memoryOf = ({ name, product }) => {
  const peak = peakMemoryOf(product.pid);
  return (
    `memory (${name}): process of the gateway ${digits(peak, 0)} MB at its peak ` +
    `(budget ${GATEWAY_MB}: ${verdict(peak <= GATEWAY_MB)}), Postgres ${digits(memoryOfFamily(product.postmaster), 0)} MB\n`
  );
};

const LEGEND = `
Medians. CPU of the server and its Postgres, including followers and ended backends, until both are idle again.
Bounds: bare Fastify that sends the same bytes; pgbench with event and view in one statement and the same number of clients.
Each connection waits for its response: at 64 connections p50 is mostly queueing. Load and product share the machine.
`;

/** `builds` are built projects to compare. The bounds run on the Postgres of the first one. */
export const rest = async ({ builds, ...options }) => {
  const missing = missingPrograms('wrk', 'pgbench');
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const plan = { ...options, cases: options.cases ?? Object.keys(CASES) };
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-files-'));
  const subjects = [];
  let bounds = null;
  try {
    for (const build of builds) subjects.push(await openSubject('ABCDEFGH'[subjects.length], build, folder));
    bounds = await openBounds(subjects[0], folder);
    await warmUp(subjects, bounds, plan.cases);
    const results = await takeTurns(subjects, bounds, plan);
    process.stdout.write(`${table(HEADER, rowsOf(results, subjects, plan))}\n\n`);
    for (const subject of subjects) process.stdout.write(memoryOf(subject));
    process.stdout.write(LEGEND);
    return [...results.values()].flat().every(({ errors }) => !errors);
  } finally {
    await bounds?.close();
    for (const { product } of subjects) await product.remove();
    await rm(folder, { recursive: true, force: true });
  }
};

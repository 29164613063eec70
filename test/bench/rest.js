// REST compared with its bounds. They take turns, so that other load on the machine affects all of them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBounds } from './bounds.js';
import { memoryOfFamily, peakMemoryOf } from './proc.js';
import { missingPrograms } from './programs.js';
import { median, medians } from './statistics.js';
import { closeSubject, measure, measureLoneLocks, openSubject } from './subjects.js';
import { table, verdict } from './table.js';

const GATEWAY_MB = 150;

/**
 * Each case with its bound. The budget is the CPU time of all processes for one request, followers included, as a
 * multiple of the bound's CPU time in the same round.
 */
const CASES = {
  get: { title: 'GET workspace', bound: 'get', budget: 4 },
  list: { title: 'list of 20', bound: 'list', budget: 10 },
  lock: { title: 'lock, unlock', bound: 'update', budget: 4, isWrite: true },
  patch: { title: 'PATCH', bound: 'update', budget: 4, isWrite: true },
  create: { title: 'create', bound: 'insert', budget: 4, isWrite: true },
};

/** The budget holds at these numbers of connections. With one, no work can be shared. */
const BUDGET_CONNECTIONS = [16, 64];

/** Budgets of a lock: KB of WAL and transactions that write, of the append and of all followers. */
const LOCK_KB = 2.5;
const LOCK_TRANSACTIONS = 1.2;

const digits = (value, decimals) => (Number.isFinite(value) ? value.toFixed(decimals) : '–');
const spread = (values, decimals) =>
  `${digits(median(values), decimals)} (${digits(Math.min(...values), decimals)}–${digits(Math.max(...values), decimals)})`;
const compareWith = (value, budget) => [`≤ ${budget}`, verdict(value <= budget)];

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
  'bound ms',
  'ratio (min–max)',
  'budget',
  '',
  'rate/bound',
];

const cpuOf = ({ node, postgres }) => node + postgres;
const titleOf = (title, label) => (label === '' ? title : `${title} (${label})`);

const rowOf = ({ title, budget }, connections, measured, bound, label) => {
  const { rate, p50, p99, node, postgres } = medians(measured);
  const ratios = measured.map((each, n) => cpuOf(each) / bound[n].cpu);
  const shares = measured.map((each, n) => each.rate / bound[n].rate);
  return [
    titleOf(title, label),
    connections,
    digits(rate, 0),
    digits(p50, 2),
    digits(p99, 2),
    measured.reduce((sum, each) => sum + each.errors, 0),
    digits(node, 3),
    digits(postgres, 3),
    digits(node + postgres, 3),
    digits(medians(bound).cpu, 3),
    spread(ratios, 1),
    ...(BUDGET_CONNECTIONS.includes(connections) ? compareWith(median(ratios), budget) : ['', '']),
    digits(median(shares), 2),
  ];
};

const WRITE_HEADER = ['writes', 'conns', 'KB of WAL (min–max)', 'budget', '', 'transactions (min–max)', 'budget', ''];

const writeRowOf = ({ title }, mode, connections, measured, label) => {
  const [kb, transactions] = [measured.map((each) => each.walKb), measured.map((each) => each.transactions)];
  const isLock = mode === 'lock' && (connections === 'alone' || BUDGET_CONNECTIONS.includes(connections));
  return [
    titleOf(title, label),
    connections,
    spread(kb, 2),
    ...(isLock ? compareWith(median(kb), LOCK_KB) : ['', '']),
    spread(transactions, 2),
    ...(isLock ? compareWith(median(transactions), LOCK_TRANSACTIONS) : ['', '']),
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
    if (cases.includes('lock')) {
      for (const subject of order) addResult(`lock alone ${subject.name}`, await measureLoneLocks(subject));
    }
    process.stderr.write(`round ${round + 1} of ${rounds} completed\n`);
  }
  return results;
};

/** Calls back for each case, number of connections and subject. */
const flatMapResults = (subjects, { cases, connections }, work) => {
  const label = (name) => (subjects.length > 1 ? name : '');
  return cases.flatMap((mode) =>
    connections.flatMap((count) => subjects.map(({ name }) => work(mode, count, name, label(name)))),
  );
};

const rowsOf = (results, subjects, plan) =>
  flatMapResults(subjects, plan, (mode, count, name, label) => {
    const bound = results.get(`${mode} ${count} bound`);
    return rowOf(CASES[mode], count, results.get(`${mode} ${count} ${name}`), bound, label);
  });

const writeRowsOf = (results, subjects, { cases, connections }) => {
  const plan = { cases: cases.filter((mode) => CASES[mode].isWrite), connections: ['alone', ...connections] };
  return flatMapResults(subjects, plan, (mode, count, name, label) => {
    const measured = results.get(`${mode} ${count} ${name}`);
    return measured ? [writeRowOf(CASES[mode], mode, count, measured, label)] : [];
  }).flat();
};

const memoryRowOf = ({ name, product, memoryAtRest }) => {
  const peak = peakMemoryOf(product.pid);
  return [
    `process of the gateway (${name})`,
    digits(memoryAtRest, 0),
    digits(peak, 0),
    ...compareWith(Math.max(memoryAtRest, peak), GATEWAY_MB),
    digits(memoryOfFamily(product.postmaster), 0),
  ];
};

const LEGEND = `
Medians. CPU of the server and its Postgres, including followers and ended backends, until both are idle again.
The ratio divides it by the CPU of the bound in the same round. Bounds: bare Fastify that sends the same bytes; pgbench with
event and view in one statement and the same number of clients. rate/bound: the product's requests/s as a share of the bound's.
WAL and transactions that write: of the append and all followers, without what an idle server writes in that time.
alone: each lock waits until the followers have processed the one before.
Each connection waits for its response: at 64 connections p50 is mostly queueing. Load and product share the machine.
`;

const print = (results, subjects, plan) => {
  process.stdout.write(`${table(HEADER, rowsOf(results, subjects, plan))}\n\n`);
  const writes = writeRowsOf(results, subjects, plan);
  if (writes.length > 0) process.stdout.write(`${table(WRITE_HEADER, writes)}\n\n`);
  const memory = ['memory, MB', 'at rest', 'at its peak', 'budget', '', 'Postgres'];
  process.stdout.write(`${table(memory, subjects.map(memoryRowOf))}\n${LEGEND}`);
};

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
    print(results, subjects, plan);
    return [...results.values()].flat().every(({ errors }) => !errors);
  } finally {
    await bounds?.close();
    for (const subject of subjects) await closeSubject(subject);
    await rm(folder, { recursive: true, force: true });
  }
};

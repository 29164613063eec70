// REST compared with its bounds. They take turns, so that other load on the machine affects all of them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBounds } from './bounds.js';
import { selectCases } from './cases.js';
import { figure } from './figures.js';
import { describeErrors } from './metrics.js';
import { memoryOfFamily, peakMemoryOf } from './proc.js';
import { missingPrograms } from './programs.js';
import { median, medians } from './statistics.js';
import { closeSubject, measure, measureLoneLocks, openSubject } from './subjects.js';
import { table, verdict } from './table.js';

/** The whole product without its Postgres: gateway, publisher, projector and jobs. */
const PROCESS_MB = 200;

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
  'CPU budget',
  '',
  'rate/bound',
];

const cpuOf = ({ node, postgres }) => node + postgres;
const budgetAt = (budget, connections) => (BUDGET_CONNECTIONS.includes(connections) ? budget : null);
const ratiosOf = (measured, bound) => measured.map((each, n) => cpuOf(each) / bound[n].cpu);
const titleOf = (title, label) => (label === '' ? title : `${title} (${label})`);

/** Compares with the build in the first place, such as that of the last release. */
const timesFirst = (measured, first) =>
  spread(
    measured.map((each, n) => cpuOf(each) / cpuOf(first[n])),
    2,
  );

const rowOf = ({ title, budget, cpuBudget }, { connections, measured, first, bound, label }) => {
  const { rate, p50, p99, node, postgres } = medians(measured);
  const ratios = ratiosOf(measured, bound);
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
    ...(budgetAt(budget, connections) === null ? ['', ''] : compareWith(median(ratios), budget)),
    ...(budgetAt(cpuBudget, connections) === null ? ['', ''] : compareWith(node + postgres, cpuBudget)),
    digits(median(shares), 2),
    ...(first ? [timesFirst(measured, first)] : []),
  ];
};

const WRITE_HEADER = ['writes', 'conns', 'KB of WAL (min–max)', 'budget', '', 'transactions (min–max)', 'budget', ''];

const isLockBudget = ({ name }, connections) =>
  name === 'lock' && (connections === 'alone' || BUDGET_CONNECTIONS.includes(connections));

const writeRowOf = (one, connections, measured, label) => {
  const [kb, transactions] = [measured.map((each) => each.walKb), measured.map((each) => each.transactions)];
  const isLock = isLockBudget(one, connections);
  return [
    titleOf(one.title, label),
    connections,
    spread(kb, 2),
    ...(isLock ? compareWith(median(kb), LOCK_KB) : ['', '']),
    spread(transactions, 2),
    ...(isLock ? compareWith(median(transactions), LOCK_TRANSACTIONS) : ['', '']),
  ];
};

const warmUp = async (subjects, bounds, cases) => {
  for (const one of cases) {
    for (const subject of subjects) await measure(subject, one, 16, 1);
    await bounds.run(one, 16, 1);
  }
};

/** Returns all measurements by key: `lock 16 A`, `lock 16 bound`. */
const takeTurns = async (subjects, bounds, { rounds, cases, connections, seconds }) => {
  const results = new Map();
  const addResult = (key, value) => results.set(key, [...(results.get(key) ?? []), value]);
  const measureCase = async (one, count, order) => {
    addResult(`${one.name} ${count} bound`, await bounds.run(one, count, seconds));
    for (const subject of order)
      addResult(`${one.name} ${count} ${subject.name}`, await measure(subject, one, count, seconds));
  };
  for (let round = 0; round < rounds; round += 1) {
    // The later subject runs on a warmer machine, so they take turns at being first.
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const one of cases) {
      for (const count of one.isOneByOne ? [1] : connections) await measureCase(one, count, order);
    }
    if (cases.some(({ name }) => name === 'lock')) {
      for (const subject of order) addResult(`lock alone ${subject.name}`, await measureLoneLocks(subject));
    }
    process.stderr.write(`round ${round + 1} of ${rounds} completed\n`);
  }
  return results;
};

/** Requests of some cases are measured one by one only. */
const withOne = (connections) => [...new Set([1, ...connections])];

/** Calls back for each case, number of connections and subject that was measured. */
const flatMapResults = (results, subjects, cases, connections, work) => {
  const label = (name) => (subjects.length > 1 ? name : '');
  return cases.flatMap((one) =>
    connections.flatMap((count) =>
      subjects.flatMap(({ name }) => {
        const measured = results.get(`${one.name} ${count} ${name}`);
        return measured ? work({ one, count, measured, label: label(name) }) : [];
      }),
    ),
  );
};

const rowsOf = (results, subjects, { cases, connections }) =>
  flatMapResults(results, subjects, cases, withOne(connections), ({ one, count, measured, label }) => {
    const first = subjects.length > 1 ? results.get(`${one.name} ${count} ${subjects[0].name}`) : null;
    const bound = results.get(`${one.name} ${count} bound`);
    return [rowOf(one, { connections: count, measured, first, bound, label })];
  });

const writeRowsOf = (results, subjects, { cases, connections }) => {
  const writes = cases.filter(({ isWrite }) => isWrite);
  return flatMapResults(
    results,
    subjects,
    writes,
    ['alone', ...withOne(connections)],
    ({ one, count, measured, label }) => [writeRowOf(one, count, measured, label)],
  );
};

/** The figures of one case at one number of connections. */
const figuresOfCase = (results, { one, count, measured, label }) => {
  const name = titleOf(one.title, label);
  const variant = `${count} connections`;
  const pick = (key) => measured.map((each) => each[key]);
  const bound = results.get(`${one.name} ${count} bound`);
  const add = (metric, values, options) => figure('rest', name, variant, metric, values, options);
  return [
    add('times the bound', ratiosOf(measured, bound), { better: 'lower', budget: budgetAt(one.budget, count) }),
    add('CPU', measured.map(cpuOf), { unit: 'ms', better: 'lower', budget: budgetAt(one.cpuBudget, count) }),
    add(
      'CPU of the bound',
      bound.map(({ cpu }) => cpu),
      { unit: 'ms' },
    ),
    add('requests', pick('rate'), { unit: '1/s' }),
    add('p50', pick('p50'), { unit: 'ms' }),
    add('p99', pick('p99'), { unit: 'ms' }),
  ];
};

const figuresOfWrites = ({ one, count, measured, label }) => {
  const name = titleOf(one.title, label);
  const variant = count === 'alone' ? 'alone' : `${count} connections`;
  const isLock = isLockBudget(one, count);
  const pick = (key) => measured.map((each) => each[key]);
  const add = (metric, unit, key, budget) =>
    figure('rest', name, variant, metric, pick(key), { unit, better: 'lower', budget: isLock ? budget : null });
  return [add('WAL', 'KB', 'walKb', LOCK_KB), add('transactions', '', 'transactions', LOCK_TRANSACTIONS)];
};

const figuresOf = (results, subjects, { cases, connections }) => [
  ...flatMapResults(results, subjects, cases, withOne(connections), (result) => figuresOfCase(results, result)),
  ...flatMapResults(
    results,
    subjects,
    cases.filter(({ isWrite }) => isWrite),
    ['alone', ...withOne(connections)],
    figuresOfWrites,
  ),
  ...subjects.flatMap(({ name, product, memoryAtRest }) => {
    const label = subjects.length > 1 ? name : '';
    const add = (variant, value) =>
      figure('rest', titleOf('memory of the process', label), variant, 'memory', [value], {
        unit: 'MB',
        better: 'lower',
        budget: PROCESS_MB,
      });
    return [add('at rest', memoryAtRest), add('at its peak', peakMemoryOf(product.pid))];
  }),
];

const memoryRowOf = ({ name, product, memoryAtRest }) => {
  const peak = peakMemoryOf(product.pid);
  return [
    `process (${name})`,
    digits(memoryAtRest, 0),
    digits(peak, 0),
    ...compareWith(Math.max(memoryAtRest, peak), PROCESS_MB),
    digits(memoryOfFamily(product.postmaster), 0),
  ];
};

const LEGEND = `
Medians. CPU of the server and its Postgres, including followers and ended backends, until both are idle again.
The ratio divides it by the CPU of the bound in the same round. Bounds: bare Fastify that sends the same bytes; pgbench with
event and view in one statement and the same number of clients. rate/bound: the product's requests/s as a share of the bound's.
WAL and transactions that write: of the append and all followers, without the writes of an idle server in that time.
alone: each lock waits until the followers have processed the one before.
Each connection waits for its response: at 64 connections p50 is mostly queueing. Load and product share the machine.
`;

const errorsOf = (results, subjects, { cases, connections }) =>
  flatMapResults(results, subjects, cases, withOne(connections), ({ one, count, measured, label }) =>
    describeErrors(`${titleOf(one.title, label)}, ${count} connections`, measured),
  );

const print = (results, subjects, plan) => {
  const header = subjects.length > 1 ? [...HEADER, 'times A (min–max)'] : HEADER;
  process.stdout.write(`${table(header, rowsOf(results, subjects, plan))}\n\n`);
  const errors = errorsOf(results, subjects, plan);
  if (errors.length > 0) process.stdout.write(`${errors.join('\n')}\n\n`);
  const writes = writeRowsOf(results, subjects, plan);
  if (writes.length > 0) process.stdout.write(`${table(WRITE_HEADER, writes)}\n\n`);
  const memory = ['memory, MB', 'at rest', 'at its peak', 'budget', '', 'Postgres'];
  process.stdout.write(`${table(memory, subjects.map(memoryRowOf))}\n${LEGEND}`);
};

/** The data of a subject: as many workspaces as clients of a large site read at random. */
const SEEDS = [
  { prefix: 'bench', workspaces: 10_000 },
  // With fewer, an unlock can overtake its lock among 64 concurrent requests, and both get status 409.
  { prefix: 'nursery', workspaces: 800 },
];

/**
 * `builds` are built projects to compare; each must have the command `seed`. The bounds run on the Postgres of the first
 * one. Returns the figures.
 */
export const rest = async ({ builds, isFull = false, cases, ...options }) => {
  const missing = missingPrograms('wrk', 'pgbench');
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const plan = { ...options, cases: selectCases(cases, isFull) };
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-files-'));
  const subjects = [];
  let bounds = null;
  try {
    for (const build of builds) subjects.push(await openSubject('ABCDEFGH'[subjects.length], build, folder, SEEDS));
    bounds = await openBounds(subjects[0], plan.cases, folder);
    await warmUp(subjects, bounds, plan.cases);
    const results = await takeTurns(subjects, bounds, plan);
    print(results, subjects, plan);
    if ([...results.values()].flat().some(({ errors }) => errors > 0)) process.exitCode = 1;
    return figuresOf(results, subjects, plan);
  } finally {
    await bounds?.close();
    for (const subject of subjects) await closeSubject(subject);
    await rm(folder, { recursive: true, force: true });
  }
};

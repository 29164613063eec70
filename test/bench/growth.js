// The cost of a request with more and less data. The subjects take turns, so that other load on the machine affects all of
// them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selectCases } from './cases.js';
import { figure } from './figures.js';
import { describeErrors } from './metrics.js';
import { PROJECT } from './product.js';
import { missingPrograms } from './programs.js';
import { medians } from './statistics.js';
import { closeSubject, forEach, idsWhere, measure, openSubject } from './subjects.js';
import { table, verdict } from './table.js';

/** The CPU time of a request, as a multiple of that of the first subject, must not exceed this. */
const GROWTH = 1.3;

const WORKSPACES_OF_OTHERS = 10;
const TRAIL_DAYS = 13;

/** The organization that is measured, and others beside it. */
const seedsOf = ({ workspaces, organizations, entries }) => [
  { prefix: 'bench', workspaces, 'trail-entries': entries, days: TRAIL_DAYS },
  ...(organizations > 1
    ? [{ prefix: 'other', organizations: organizations - 1, workspaces: WORKSPACES_OF_OTHERS, users: 100 }]
    : []),
];

const formatCount = (n, noun) => `${n.toLocaleString('en-US')} ${noun}`;

/** Returns the subjects: the first is the one that the others are compared with. */
export const listSizes = ({ sizes, organizations, entries }) => {
  const base = { workspaces: sizes[0], organizations: 1, entries: 0 };
  return [
    ...sizes.map((workspaces) => ({ ...base, workspaces, name: formatCount(workspaces, 'workspaces') })),
    ...organizations.map((count) => ({ ...base, organizations: count, name: formatCount(count, 'organizations') })),
    ...entries.map((count) => ({ ...base, entries: count, name: formatCount(count, 'trail entries') })),
  ];
};

/** Created workspaces are deleted again, but they leave dead rows, so other cases come before. */
const removeCreated = async ({ product }) =>
  forEach(await idsWhere(product, `name like 'bench-%'`), (id) =>
    product.request('DELETE', `/api/v2/workspaces/${id}`),
  );

const takeTurns = async (subjects, { rounds, seconds, connections, cases }) => {
  const results = new Map();
  const measureCase = async (one, subject) => {
    const measured = await measure(subject, one, one.isOneByOne ? 1 : connections, seconds);
    if (one.name === 'create') await removeCreated(subject);
    return measured;
  };
  for (const one of cases) for (const subject of subjects) await measureCase(one, subject);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const one of cases) {
      for (const subject of order) {
        const key = `${one.name} ${subject.name}`;
        results.set(key, [...(results.get(key) ?? []), await measureCase(one, subject)]);
      }
    }
    process.stderr.write(`round ${round + 1} of ${rounds} completed\n`);
  }
  return results;
};

const HEADER = [
  'case',
  'with',
  'req/s',
  'p50 ms',
  'p99 ms',
  'errors',
  'node',
  'postgres',
  'CPU ms',
  'ratio',
  'budget',
  '',
];

const cpuOf = ({ node, postgres }) => node + postgres;

const flatMapResults = (results, subjects, cases, work) =>
  cases.flatMap((one) =>
    subjects.map(({ name }, n) => {
      const measured = results.get(`${one.name} ${name}`);
      const smallest = results.get(`${one.name} ${subjects[0].name}`);
      const ratios = measured.map((each, round) => cpuOf(each) / cpuOf(smallest[round]));
      return work({ one, name, measured, ratios, isFirst: n === 0 });
    }),
  );

const rowOf = ({ one, name, measured, ratios, isFirst }) => {
  const { rate, p50, p99, node, postgres } = medians(measured);
  const { ratio } = medians(ratios.map((value) => ({ ratio: value })));
  const errors = measured.reduce((sum, each) => sum + each.errors, 0);
  const first = [one.title, name, rate.toFixed(0), p50.toFixed(2), p99.toFixed(2), errors];
  const compared = isFirst ? ['', '', ''] : [ratio.toFixed(2), `≤ ${GROWTH}`, verdict(ratio <= GROWTH)];
  return [...first, node.toFixed(3), postgres.toFixed(3), (node + postgres).toFixed(3), ...compared];
};

const figuresOf = ({ one, name, measured, ratios, isFirst }) => [
  figure('growth', one.title, name, 'times the smallest', ratios, {
    better: isFirst ? null : 'lower',
    budget: isFirst ? null : GROWTH,
  }),
  figure('growth', one.title, name, 'CPU', measured.map(cpuOf), { unit: 'ms' }),
];

const LEGEND = `
Medians. The ratio compares with the first subject in the same round. CPU of the server and its Postgres, including
followers. GET uses up to 500 workspaces from all parts of the organization, writes and the GET of any workspace up to
20,000, in turn: too many for the memory of a gateway. The lists by tag and by name return the same few workspaces in each
organization. The list by two inherited tags returns all of them.
`;

/** Returns the figures. */
export const growth = async ({ sizes, organizations, entries, cases, ...options }) => {
  const missing = missingPrograms('wrk');
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const plan = { ...options, cases: selectCases(cases, true) };
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-files-'));
  const subjects = [];
  try {
    for (const size of listSizes({ sizes, organizations, entries })) {
      subjects.push(await openSubject(size.name, PROJECT, folder, seedsOf(size)));
      process.stderr.write(`seeded ${size.name}\n`);
    }
    const results = await takeTurns(subjects, plan);
    process.stdout.write(`${table(HEADER, flatMapResults(results, subjects, plan.cases, rowOf))}\n${LEGEND}`);
    const errors = flatMapResults(results, subjects, plan.cases, ({ one, name, measured }) =>
      describeErrors(`${one.title}, ${name}`, measured),
    ).flat();
    if (errors.length > 0) process.stdout.write(`\n${errors.join('\n')}\n`);
    if ([...results.values()].flat().some(({ errors }) => errors > 0)) process.exitCode = 1;
    return flatMapResults(results, subjects, plan.cases, figuresOf).flat();
  } finally {
    for (const subject of subjects) await closeSubject(subject);
    await rm(folder, { recursive: true, force: true });
  }
};

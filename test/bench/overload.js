// What a server does with more requests than it can answer: it answers what it can, refuses the rest, and recovers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selectCases } from './cases.js';
import { figure } from './figures.js';
import { memoryOf } from './proc.js';
import { PROJECT } from './product.js';
import { missingPrograms } from './programs.js';
import { cleanUp, closeSubject, openSubject, send } from './subjects.js';
import { table } from './table.js';

/** So many connections keep the server busy, and it refuses nothing. */
const CAPACITY_CONNECTIONS = 64;
const WORKSPACES = 10_000;
const HEADER = [
  'case',
  'conns',
  'offered by capacity',
  'answered/s',
  'by capacity',
  'refused',
  'p99 ms',
  'memory MB',
  'first ms',
];

/** Returns the milliseconds of one request after a flood. It fails if the server refuses it. */
const timeOfOne = async ({ product, ids }) => {
  const start = performance.now();
  await product.request('GET', `/api/v2/workspaces/${ids[0]}`);
  return performance.now() - start;
};

/** Every connection sends its next request as soon as it has the response to the last. */
const flood = async (subject, one, connections, seconds, capacity) => {
  const run = await send(subject, one, connections, seconds);
  const first = await timeOfOne(subject);
  if (run.failed > 0) throw new Error(`${run.failed} requests of "${one.title}" got no response`);
  const answered = (run.requests - run.refused) / run.seconds;
  return {
    name: one.title,
    connections,
    offered: run.requests / run.seconds / capacity,
    answered,
    share: answered / capacity,
    refused: run.refused / run.requests,
    p99: run.p99,
    memory: memoryOf(subject.product.pid),
    first,
  };
};

const rowOf = (each) => [
  each.name,
  each.connections,
  each.offered.toFixed(1),
  Math.round(each.answered),
  each.share.toFixed(2),
  `${Math.round(each.refused * 100)} %`,
  Math.round(each.p99),
  Math.round(each.memory),
  Math.round(each.first),
];

const METRICS = [
  ['offered by capacity', 'offered', ''],
  ['answered by capacity', 'share', ''],
  ['refused', 'refused', ''],
  ['p99', 'p99', 'ms'],
  ['memory', 'memory', 'MB'],
  ['first request afterwards', 'first', 'ms'],
];

const figuresOf = (each) =>
  METRICS.map(([metric, key, unit]) =>
    figure('overload', each.name, `${each.connections} connections`, metric, [each[key]], { unit }),
  );

export const overload = async ({ seconds, connections, cases }) => {
  const missing = missingPrograms('wrk');
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-'));
  const subject = await openSubject('overload', PROJECT, folder, [{ prefix: 'bench', workspaces: WORKSPACES }]);
  const results = [];
  try {
    for (const one of selectCases(cases)) {
      await send(subject, one, CAPACITY_CONNECTIONS, 1);
      const run = await send(subject, one, CAPACITY_CONNECTIONS, seconds);
      const capacity = run.requests / run.seconds;
      for (const count of connections) results.push(await flood(subject, one, count, seconds, capacity));
      await cleanUp(subject, one);
    }
  } finally {
    await closeSubject(subject);
    await rm(folder, { recursive: true, force: true });
  }
  process.stdout.write(`${table(HEADER, results.map(rowOf))}\n\n`);
  process.stdout.write(
    `The capacity is the rate at ${CAPACITY_CONNECTIONS} connections. p99 includes refusals. The memory is that of the server right\n` +
      'after the flood, and the last column is the time of one GET then.\n',
  );
  return results.flatMap(figuresOf);
};

import { setTimeout as delay } from 'node:timers/promises';
import { figure } from './figures.js';
import { memoryOf } from './proc.js';
import { Product } from './product.js';
import { median } from './statistics.js';
import { table, verdict } from './table.js';

const WORKSPACES_A_SECOND = 10_000;
/** The last quarter of the run may take this much more memory than the second. The first quarter loads the program. */
const GROWTH = 1.25;

/** Returns the median memory in MB of a quarter of the run. */
export const quarterOf = (samples, n) => {
  const size = Math.max(1, Math.floor(samples.length / 4));
  return median(samples.slice(n * size, (n + 1) * size));
};

/** Samples the memory of a process until it ends. */
export const sampleMemory = async (child) => {
  const samples = [];
  while (child.exitCode === null) {
    samples.push(memoryOf(child.pid));
    await delay(50);
  }
  return samples.filter((value) => value > 0);
};

/** Measures how long `cadastre seed` takes without a server, statistics included. */
export const measureSeed = async ({ workspaces }) => {
  const product = await Product.of();
  try {
    await product.start();
    await product.stop();
    const { child, ended } = product.run(['seed', '--workspaces', String(workspaces)]);
    const sampling = sampleMemory(child);
    const output = await ended;
    const samples = await sampling;
    const seconds = Number(/appended in ([\d.]+) s/.exec(output)[1]);
    const rate = workspaces / seconds;
    const growth = quarterOf(samples, 3) / quarterOf(samples, 1);
    const rows = [
      ['workspaces/s', Math.round(rate), `≥ ${WORKSPACES_A_SECOND}`, verdict(rate >= WORKSPACES_A_SECOND)],
      ['memory, last quarter by second', growth.toFixed(2), `≤ ${GROWTH}`, verdict(growth <= GROWTH)],
      ['memory at its peak, MB', Math.round(Math.max(...samples)), '', ''],
    ];
    process.stdout.write(`${table(['seed', 'measured', 'budget', ''], rows)}\n`);
    const add = (metric, value, options) => figure('seed', 'seed', '', metric, [value], options);
    return [
      add('workspaces', rate, { unit: '1/s', better: 'higher', budget: WORKSPACES_A_SECOND }),
      add('last quarter by second quarter', growth, { better: 'lower', budget: GROWTH }),
      add('peak', Math.max(...samples), { unit: 'MB' }),
    ];
  } finally {
    await product.remove();
  }
};

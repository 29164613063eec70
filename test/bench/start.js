import { figure } from './figures.js';
import { Product } from './product.js';
import { median } from './statistics.js';
import { table, verdict } from './table.js';

const BUDGETS = { first: 8_000, later: 3_000 };

export const start = async ({ rounds }) => {
  const times = { first: [], later: [] };
  for (let round = 0; round < rounds; round += 1) {
    const product = await Product.of();
    try {
      times.first.push(await product.start());
      await product.stop();
      times.later.push(await product.start());
    } finally {
      await product.remove();
    }
  }
  const rows = Object.entries(times).map(([name, all]) => [
    `start, ${name}`,
    Math.round(median(all)),
    Math.round(Math.max(...all)),
    `≤ ${BUDGETS[name]}`,
    verdict(median(all) <= BUDGETS[name]),
  ]);
  process.stdout.write(`${table(['', 'ms, median', 'longest', 'budget', ''], rows)}\n`);
  return Object.entries(times).map(([name, all]) =>
    figure('start', 'start', name, 'time', all, { unit: 'ms', better: 'lower', budget: BUDGETS[name] }),
  );
};

import { setTimeout as delay } from 'node:timers/promises';
import { fillLog, seedModel } from './filled-log.js';
import { memoryOf } from './proc.js';
import { Product } from './product.js';
import { median } from './statistics.js';
import { table, verdict } from './table.js';

const EVENTS_A_SECOND = 30_000;
/** The last quarter of the run may take this much more memory than the second. The first quarter loads the program. */
const GROWTH = 1.25;

const quarter = (samples, n) => {
  const size = Math.max(1, Math.floor(samples.length / 4));
  return median(samples.slice(n * size, (n + 1) * size));
};

export const rebuild = async ({ events }) => {
  const product = await Product.of();
  try {
    await product.start();
    await seedModel(product);
    const total = await fillLog(await product.databaseUrl(), events);
    await product.stop();

    const { child, ended } = product.run(['rebuild']);
    const samples = [];
    const sampling = (async () => {
      while (child.exitCode === null) {
        samples.push(memoryOf(child.pid));
        await delay(50);
      }
    })();
    const text = await ended;
    await sampling;

    const rows = [...text.matchAll(/^(\S+): rebuilt in (\d+) ms$/gm)].map(([, view, ms]) => {
      const rate = (total / Number(ms)) * 1_000;
      return [view, total, ms, Math.round(rate), `≥ ${EVENTS_A_SECOND}`, verdict(rate >= EVENTS_A_SECOND)];
    });
    process.stdout.write(`${table(['view', 'events', 'ms', 'events/s', 'budget', ''], rows)}\n\n`);
    const [early, late] = [quarter(samples, 1), quarter(samples, 3)];
    process.stdout.write(
      `memory: ${Math.round(early)} MB in the second quarter of the run, ${Math.round(late)} MB in the last, ` +
        `${Math.round(Math.max(...samples))} MB at its peak (flat: ${verdict(late <= early * GROWTH)})\n`,
    );
    return rows.length > 0;
  } finally {
    await product.remove();
  }
};

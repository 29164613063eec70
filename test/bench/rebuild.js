import { figure } from './figures.js';
import { Product } from './product.js';
import { quarterOf, sampleMemory } from './seed.js';
import { table, verdict } from './table.js';

/** Most events are locks. */
const EVENTS_A_WORKSPACE = 20;

const EVENTS_A_SECOND = 30_000;
/** The last quarter of the run may take this much more memory than the second. The first quarter loads the program. */
const GROWTH = 1.25;

export const rebuild = async ({ events }) => {
  const product = await Product.of();
  try {
    await product.start();
    await product.stop();
    const text = await product.seed({ workspaces: Math.ceil(events / EVENTS_A_WORKSPACE), 'trail-entries': events });
    const total = Number(/: (\d+) events/.exec(text)[1]);

    const { child, ended } = product.run(['rebuild']);
    const sampling = sampleMemory(child);
    const output = await ended;
    const samples = await sampling;

    const rates = [];
    const rows = [...output.matchAll(/^(\S+): rebuilt in (\d+) ms$/gm)].map(([, view, ms]) => {
      const rate = (total / Number(ms)) * 1_000;
      const options = { unit: '1/s', better: 'higher', budget: EVENTS_A_SECOND };
      rates.push(figure('rebuild', view, '', 'events', [rate], options));
      return [view, total, ms, Math.round(rate), `≥ ${EVENTS_A_SECOND}`, verdict(rate >= EVENTS_A_SECOND)];
    });
    process.stdout.write(`${table(['view', 'events', 'ms', 'events/s', 'budget', ''], rows)}\n\n`);
    const [early, late] = [quarterOf(samples, 1), quarterOf(samples, 3)];
    process.stdout.write(
      `memory: ${Math.round(early)} MB in the second quarter of the run, ${Math.round(late)} MB in the last, ` +
        `${Math.round(Math.max(...samples))} MB at its peak (flat: ${verdict(late <= early * GROWTH)})\n`,
    );
    const growth = figure('rebuild', 'memory', '', 'last quarter by second quarter', [late / early], {
      better: 'lower',
      budget: GROWTH,
    });
    return [...rates, growth, figure('rebuild', 'memory', '', 'peak', [Math.max(...samples)], { unit: 'MB' })];
  } finally {
    await product.remove();
  }
};

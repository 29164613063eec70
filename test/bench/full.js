// All measurements one after the other, for the report.
import { PROJECT } from './product.js';

const PARTS = {
  rest: async ({ seconds, rounds }) =>
    (await import('./rest.js')).rest({ seconds, rounds, connections: [16, 64], isFull: true, builds: [PROJECT] }),
  growth: async ({ seconds, rounds, sizes, organizations, entries }) =>
    (await import('./growth.js')).growth({ seconds, rounds, sizes, organizations, entries, connections: 16 }),
  overload: async () =>
    (await import('./overload.js')).overload({
      seconds: 10,
      connections: [480, 1_000, 3_000],
      cases: ['get', 'tagged', 'patch'],
    }),
  start: async ({ rounds }) => (await import('./start.js')).start({ rounds }),
  seed: async () => (await import('./seed.js')).measureSeed({ workspaces: 200_000 }),
  rebuild: async () => (await import('./rebuild.js')).rebuild({ events: 200_000 }),
  trail: async ({ entries }) =>
    (await import('./trail.js')).trail({ entries: entries.at(-1) ?? 1_000_000, requests: 200, keep: 10 }),
  proofs: async ({ rounds }) => (await import('./proofs.js')).proofs({ entries: 10_000_000, requests: 1_000, rounds }),
  verify: async ({ rounds }) => (await import('./verify.js')).verify({ entries: 500_000, rounds }),
  publisher: async () => (await import('./publisher.js')).publisher({ events: 50_000, seconds: 20 }),
};

/** Returns the figures of all parts. A part that fails is reported, and the others still run. */
export const full = async ({ without, ...options }) => {
  const unknown = without.find((name) => !PARTS[name]);
  if (unknown !== undefined)
    throw new Error(`there is no part "${unknown}". The parts are: ${Object.keys(PARTS).join(', ')}`);
  const figures = [];
  for (const [name, run] of Object.entries(PARTS)) {
    if (without.includes(name)) continue;
    process.stderr.write(`${name} …\n`);
    try {
      figures.push(...(await run(options)));
    } catch (error) {
      process.stderr.write(`${name} failed: ${error.message}\n`);
      process.exitCode = 1;
    }
  }
  return figures;
};

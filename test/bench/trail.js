// Reading, exporting and pruning of a long trail (docs/explanation/adr/0023).
import { setTimeout as delay } from 'node:timers/promises';
import { figure } from './figures.js';
import { DAY_MS, DAYS, seedTrail, sizesOf, someEntries } from './filled-trail.js';
import { readJob } from './metrics.js';
import { memoryOf } from './proc.js';
import { Product } from './product.js';
import { ORGANIZATION } from './subjects.js';
import { percentile } from './statistics.js';
import { table, verdict } from './table.js';

/** The export may take this much more memory than the process has before. */
const EXPORT_MB = 150;
const PAGE_MS = 100;
/** While entries are pruned, writers and readers may wait this many times longer. */
const SLOWER = 2;
export const PRUNING_JOB = 'audit_trail_pruning';
/** Ends a run whose pruning never succeeds. 1.2 million entries take minutes. */
const PRUNING_LIMIT_MS = 30 * 60_000;

const readTrail = async (product, token, query, accept) => {
  const answer = await fetch(`${product.url}/api/v2/organization/audit-trail?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}`, ...(accept ? { accept } : {}) },
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer;
};

const any = (most) => Math.floor(Math.random() * most);
const randomTime = () => new Date(Date.now() - Math.random() * DAYS * DAY_MS).toISOString();

/**
 * The queries, with new values for each request. Counting the matches takes time in proportion to their number, so
 * those cases have no bound.
 */
const casesOf = (entries, some) => {
  const pick = (key) => some[any(some.length)][key];
  return {
    'first page': { query: () => ({}) },
    'deep page': { query: () => ({ 'page[number]': String(1 + any(Math.floor(entries / 1_000))) }) },
    'since, first page': { query: () => ({ since: randomTime() }) },
    'since, nothing new': { query: () => ({ since: new Date().toISOString() }) },
    cursor: { query: () => ({ after: pick('id') }) },
    'cursor, filter of nearly all': { query: () => ({ after: pick('id'), 'filter[resource-type]': 'workspace' }) },
    'filter, one match': { query: () => ({ 'filter[resource-type]': 'project' }) },
    'filter of a workspace': { query: () => ({ 'filter[resource-id]': pick('resource') }) },
    'all four filters': {
      query: () => {
        const { resource, accessor } = some[any(some.length)];
        return {
          'filter[resource-id]': resource,
          'filter[actor]': accessor,
          'filter[resource-type]': 'workspace,run',
          'filter[action]': 'lock,unlock',
        };
      },
    },
    'filter, 1 in 40': { query: () => ({ 'filter[actor]': pick('accessor') }), counted: true },
    'filter, nearly all': { query: () => ({ 'filter[resource-type]': 'workspace' }), counted: true },
    'two filters, half of all': {
      query: () => ({ 'filter[resource-type]': 'workspace,run', 'filter[action]': 'lock' }),
      counted: true,
    },
  };
};

const measureReads = async (product, token, entries, requests) => {
  const [rows, figures] = [[], []];
  for (const [name, { query, counted }] of Object.entries(casesOf(entries, await someEntries(product)))) {
    const times = [];
    for (let n = 0; n < (counted ? Math.ceil(requests / 10) : requests); n += 1) {
      const began = performance.now();
      await (await readTrail(product, token, query())).arrayBuffer();
      times.push(performance.now() - began);
    }
    const p50 = percentile(times, 0.5);
    const bound = counted ? ['', ''] : [`≤ ${PAGE_MS}`, verdict(p50 <= PAGE_MS)];
    const options = { unit: 'ms', better: 'lower', budget: counted ? null : PAGE_MS };
    figures.push(figure('trail', name, '', 'p50', [p50], options));
    rows.push([name, times.length, p50.toFixed(1), percentile(times, 0.99).toFixed(1), ...bound]);
  }
  process.stdout.write(`${table(['pages of 1,000', 'requests', 'p50 ms', 'p99 ms', 'p50 bound', ''], rows)}\n\n`);
  return figures;
};

const measureExport = async (product, token, entries) => {
  const before = memoryOf(product.pid);
  const samples = [];
  const sampler = setInterval(() => samples.push(memoryOf(product.pid)), 50);
  const began = performance.now();
  let [lines, bytes] = [0, 0];
  for await (const chunk of (await readTrail(product, token, {}, 'application/x-ndjson')).body) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  clearInterval(sampler);
  const seconds = (performance.now() - began) / 1_000;
  const peak = Math.max(...samples);
  process.stdout.write(
    `export: ${lines} of ${entries} entries, ${Math.round(bytes / 1e6)} MB in ${seconds.toFixed(0)} s, ` +
      `${Math.round(lines / seconds)}/s\nmemory of the process: ${Math.round(before)} MB before, ${Math.round(peak)} MB ` +
      `at its peak, ${Math.round(peak - before)} MB more (≤ ${EXPORT_MB}: ${verdict(peak - before <= EXPORT_MB)})\n\n`,
  );
  if (lines !== entries) throw new Error(`the export has ${lines} lines instead of ${entries}`);
  return [
    figure('trail', 'export', '', 'entries', [lines / seconds], { unit: '1/s', better: 'higher' }),
    figure('trail', 'export', '', 'more memory', [peak - before], { unit: 'MB', better: 'lower', budget: EXPORT_MB }),
  ];
};

/** Locks and unlocks. After each it reads the entry, which waits for the insert of the follower. */
const writeAndRead = async (product, { token, workspace: id }, shouldContinue) => {
  const [writes, reads] = [[], []];
  for (let n = 0; n % 2 === 1 || (await shouldContinue(n)); n += 1) {
    const began = performance.now();
    await product.request('POST', `/api/v2/workspaces/${id}/actions/${n % 2 === 0 ? 'lock' : 'unlock'}`);
    const written = performance.now();
    await (await readTrail(product, token, { 'page[size]': '1' })).arrayBuffer();
    writes.push(written - began);
    reads.push(performance.now() - written);
  }
  return { writes, reads };
};

const measurePruning = async (product, seeded, days) => {
  const quiet = await writeAndRead(product, seeded, (n) => n < 600);
  const data = { type: 'audit-trail-settings', attributes: { 'retention-days': days } };
  await product.request('PATCH', `/api/v2/organizations/${ORGANIZATION}/audit-trail-settings`, { data });
  await product.stop();
  // The scheduled job runs at the start.
  await product.start();
  const began = performance.now();
  let job = { hasSucceeded: false, items: 0 };
  const pruning = await writeAndRead(product, seeded, async (n) => {
    if (n % 20 === 0) job = await readJob(product, PRUNING_JOB);
    if (performance.now() - began > PRUNING_LIMIT_MS) throw new Error(`the job ${PRUNING_JOB} did not succeed in time`);
    // Measures at least once, even if the job has already ended.
    return n === 0 || !job.hasSucceeded;
  });
  const seconds = (performance.now() - began) / 1_000;
  const ratioOf = (key) => percentile(pruning[key], 0.5) / percentile(quiet[key], 0.5);
  const rowsOf = (name, key) => {
    const [before, during] = [quiet[key], pruning[key]];
    const ratio = ratioOf(key);
    const cells = [before, during].flatMap((times) => [
      percentile(times, 0.5).toFixed(1),
      percentile(times, 0.99).toFixed(1),
    ]);
    return [name, ...cells, ratio.toFixed(2), `≤ ${SLOWER}`, verdict(ratio <= SLOWER)];
  };
  const header = ['ms', 'quiet p50', 'p99', 'pruning p50', 'p99', 'ratio', 'bound', ''];
  const rows = [rowsOf('lock, unlock', 'writes'), rowsOf('trail with the entry', 'reads')];
  process.stdout.write(`${table(header, rows)}\n${job.items} entries pruned in ${seconds.toFixed(0)} s\n`);
  const add = (name, key) =>
    figure('trail', name, 'while entries are pruned', 'times as long', [ratioOf(key)], {
      better: 'lower',
      budget: SLOWER,
    });
  return [add('lock, unlock', 'writes'), add('trail with the entry', 'reads')];
};

export const trail = async ({ entries, requests, keep }) => {
  const product = await Product.of();
  try {
    const seeded = await seedTrail(product, entries);
    const sizes = (await sizesOf(product)).map(({ name, mb }) => [name, mb]);
    process.stdout.write(`${table(['', 'MB'], sizes)}\n\n`);
    await delay(2_000);
    const total = seeded.entries;
    const figures = await measureExport(product, seeded.token, total);
    figures.push(...(await measureReads(product, seeded.token, total, requests)));
    figures.push(...(await measurePruning(product, seeded, keep)));
    return figures;
  } finally {
    await product.remove();
  }
};

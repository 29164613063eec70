// Writes docs/explanation/performance.md and its plots from the files of one or several runs.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { barChart, lineChart } from './charts.js';
import { isWithinBudget, keyOf, loadRun, summarize } from './figures.js';
import { PROJECT } from './product.js';
import { median } from './statistics.js';

const GROUPS = {
  rest: [
    'Requests',
    'CPU of all processes for one request, followers included, in milliseconds and as a multiple of a bound that was ' +
      'measured in the same round. The bound of a read is bare Fastify that sends the same bytes. The bound of a write is ' +
      '`pgbench` with event and view in one statement. Requests per second and latencies depend on the machine, which load ' +
      'and product share.',
  ],
  growth: ['Growth', 'The CPU of a request as a multiple of that in the first column of the plot, in the same round.'],
  overload: [
    'Overload',
    'Many connections that send their next request as soon as they have a response. The capacity is the rate at 64 connections. ' +
      'p99 includes refusals. Memory of the server right after the flood, and the time of one GET then.',
  ],
  rebuild: ['Rebuild of views', 'Events per second of each view, and memory.'],
  trail: ['Long audit trails', 'Milliseconds of a request to the trail of one organization.'],
  proofs: [
    'Proofs of entries',
    'Milliseconds of a request for the proof of one entry, one request after the other. The log has that many pruned entries, and 1,000 newer ones.',
  ],
  verify: [
    'Verification of exports',
    'Entries of an export with proofs that `cadastre audit verify` verifies in a second of the wall clock, and of CPU.',
  ],
  publisher: ['Publisher', 'Compared with kafkajs alone that sends the same messages.'],
  start: ['Start', 'Milliseconds until the embedded product responds.'],
  seed: ['Seed', 'How fast `cadastre seed` adds workspaces.'],
};

const digits = (value) =>
  Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en-US') : Number(value.toPrecision(3)).toString();

const show = (values) => {
  const { median: middle, min, max } = summarize(values);
  return min === max ? digits(middle) : `${digits(middle)} (${digits(min)}–${digits(max)})`;
};

const markdownTable = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const titleOf = ({ case: name, variant }) => (variant === '' ? name : `${name}, ${variant}`);
const metricOf = ({ metric, unit }) => (unit === '' ? metric : `${metric}, ${unit}`);

const budgetTable = (figures) =>
  markdownTable(
    ['What', 'Reached: median (min–max)', 'Budget', 'Kept'],
    figures
      .filter(({ budget }) => budget !== null)
      .map((figure) => [
        `${titleOf(figure)}: ${metricOf(figure)}`,
        show(figure.values),
        `${figure.better === 'higher' ? '≥' : '≤'} ${digits(figure.budget)}`,
        isWithinBudget(figure) ? 'yes' : '**no**',
      ]),
  );

/** A row for each case, a column for each metric. */
const groupTable = (figures) => {
  const metrics = [...new Set(figures.map(metricOf))];
  const rows = Map.groupBy(figures, titleOf);
  return markdownTable(
    ['Case', ...metrics],
    [...rows].map(([title, own]) => [
      title,
      ...metrics.map((metric) => {
        const found = own.find((figure) => metricOf(figure) === metric);
        return found ? show(found.values) : '–';
      }),
    ]),
  );
};

const RATIO = 'times the bound';
const GROWTH_RATIO = 'times the smallest';

/** Returns the plots by file name. */
export const plotsOf = (figures) => {
  const ratios = figures.filter(({ group, metric }) => group === 'rest' && metric === RATIO);
  const growth = figures.filter(({ group, metric }) => group === 'growth' && metric === GROWTH_RATIO);
  const bars = ratios.map((figure) => {
    const { median: value, min, max } = summarize(figure.values);
    return { label: titleOf(figure), value, min, max, budget: figure.budget };
  });
  const steps = [...new Set(growth.map(({ variant }) => variant))];
  const series = [...Map.groupBy(growth, (figure) => figure.case)].map(([label, own]) => ({
    label,
    values: steps.map((step) => {
      const found = own.find(({ variant }) => variant === step);
      return found ? median(found.values) : Number.NaN;
    }),
  }));
  return {
    ...(bars.length > 0
      ? { 'performance-requests.svg': barChart('CPU of a request, as a multiple of its bound', bars) }
      : {}),
    ...(series.length > 0
      ? {
          'performance-growth.svg': lineChart(
            'CPU of a request, as a multiple of the smallest',
            steps,
            series,
            growth.find(({ budget }) => budget !== null)?.budget ?? 0,
          ),
        }
      : {}),
  };
};

const PLOT_OF_GROUP = { rest: 'performance-requests.svg', growth: 'performance-growth.svg' };

const sourcesOf = (runs) =>
  markdownTable(
    ['Command', 'Commit', 'Date', 'Machine'],
    runs.map(({ command, commit, date, machine }) => [
      `\`npm run bench -- ${command}\``,
      commit,
      date.slice(0, 10),
      machine,
    ]),
  );

const INTRODUCTION = `# Performance

This page shows what requests cost, whether that grows with the data, and which budgets are kept. The product's own benchmark
measured it. [How to measure](../how-to/measure-performance.md) says how to repeat it. Compare ratios, not requests per second: those
depend on the machine and on what else runs there.

All runs are without traces. [ADR 53](adr/0053-traces.md#cost) has their cost: no more than the spread of the rounds if no request is
recorded, and 0.07 ms of CPU for a GET and 0.17 ms for a lock if all are recorded. The [leaf of an audit entry](adr/0101-leaves-of-audit-trails.md#cost)
adds 0.05 ms of CPU and 14 % of WAL to a lock.

A request leaves nothing in memory since 2026-11-30 ([ADR 125](adr/0125-requests-leave-nothing-in-memory.md#cost)): the hooks of the gateway without a
handler take 16 to 17 µs of CPU instead of 28 to 34, where bare Fastify takes 11 to 12.

\`cadastre audit verify\` takes 16 to 21 µs of CPU for each entry of an export with proofs, that is 48,000 to 64,000 entries for a second of CPU
(100,000 entries of 1.8 KB with three personal values each, 2026-11-29, on a busy machine; before, 20 to 22 µs). \`npm run bench -- verify\` measured
36,000 entries for a second of the wall clock, and 49,000 for a second of CPU (medians of three rounds with an export of 500,000 entries, 2026-11-30).
The budget of 50,000 by the wall clock was missed; other work had kept the two cores busy with a load average of 13.

The proof of one entry in a log of 10,000,000 entries should take at most 5 ms at p99. \`npm run bench -- proofs\` measured 13 to 16 ms at p50 and 113 to
117 ms at p99 (medians of five rounds, 2026-11-29), so the budget is missed. Other work had kept the two cores busy with a load average of 13. At that
or a higher load, proofs in a log of 100,000 entries took 17 to 25 ms at p50 and 133 to 154 ms at p99: the size of the log does not show. A proof waited for
eight statements one after the other, and hashing three tiles takes 1.3 ms of CPU. Since 2026-11-30 statements that need nothing of each other are sent together, in five steps. In a log of
100,000 entries, a proof then took 2.6 ms at p50 and 12 to 17 ms at p99 at a load average of 7 to 11, and 3 to 15 ms at p50 at a higher load. The checkpoint, with two
statements, took 0.6 ms at p50 and 4 to 5 ms at p99 beside it. On a quiet machine
it has not been measured.`;

/** Where runs contain the same figure, the last one counts. */
const mergeFigures = (runs) => {
  const all = runs.flatMap((run) => run.figures);
  return [...new Map(all.map((figure) => [keyOf(figure), figure])).values()];
};

const renderReport = (runs, images) => {
  const figures = mergeFigures(runs);
  const sections = Object.entries(GROUPS).flatMap(([group, [title, explanation]]) => {
    const own = figures.filter((figure) => figure.group === group);
    if (own.length === 0) return [];
    const plot = PLOT_OF_GROUP[group];
    const image = plot && images.includes(plot) ? [`![${title}](../images/${plot})`] : [];
    return [`## ${title}`, explanation, ...image, groupTable(own)];
  });
  const flames = images.filter((name) => name.startsWith('flame-'));
  const profiles =
    flames.length === 0
      ? []
      : [
          '## Profiles',
          'Flame graphs of the main thread under load. The wider a box, the more of the time its function took. Open an image ' +
            'by itself to see the names of narrow boxes when you point at them. Images with `before` in their names show 0.2.0.',
          ...flames.map((name) => `![${name.slice(0, -'.svg'.length)}](../images/${name})`),
        ];
  const budgets = figures.some(({ budget }) => budget !== null) ? ['## Budgets', budgetTable(figures)] : [];
  return [INTRODUCTION, '## Runs', sourcesOf(runs), ...budgets, ...sections, ...profiles, ''].join('\n\n');
};

/** Writes the page and its plots below `docs`. */
export const report = async (files, docs = join(PROJECT, 'docs')) => {
  const runs = [];
  for (const file of files) runs.push(await loadRun(file));
  const folder = join(docs, 'images');
  await mkdir(folder, { recursive: true });
  await mkdir(join(docs, 'explanation'), { recursive: true });
  const plots = plotsOf(mergeFigures(runs));
  for (const [name, content] of Object.entries(plots)) await writeFile(join(folder, name), content);
  const page = join(docs, 'explanation/performance.md');
  const config = await resolveConfig(join(PROJECT, 'docs/README.md'));
  const images = (await readdir(folder)).toSorted();
  await writeFile(page, await format(renderReport(runs, images), { ...config, parser: 'markdown' }));
  process.stdout.write(`wrote ${page} and ${Object.keys(plots).length} plots\n`);
  return true;
};

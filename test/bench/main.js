// npm run bench: measures the product against the bounds of each case. See `npm run bench -- --help`.
import { Command, InvalidArgumentError } from 'commander';

const parseNumber = (text) => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0 || text.trim() === '') throw new InvalidArgumentError('must be a number');
  return value;
};
const parseNumbers = (text) => (text === 'none' ? [] : text.split(',').map(parseNumber));
const parseNames = (text) => text.split(',');
const secondsDefault = Number(process.env.SECS ?? 2);

const guarded =
  (work) =>
  async (...args) => {
    try {
      if ((await work(...args)) === false) process.exitCode = 1;
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
  };

/** Runs a measurement, and saves its figures if the caller wants a file. */
const measuring = (command, work) =>
  guarded(async (options) => {
    const figures = await work(options);
    if (!options.json) return;
    const { saveFigures } = await import('./figures.js');
    await saveFigures(options.json, command, figures);
    process.stderr.write(`wrote ${options.json}\n`);
  });

const program = new Command('bench')
  .description(
    'Measures the built product against bounds of the same run and the budgets of its design. Linux.\n\n' +
      'Without a command: the ratios of the most frequent requests to their bounds, in about five minutes.',
  )
  .addHelpText(
    'after',
    `
Examples:
  npm run bench                                        the ratios to the bounds
  npm run bench -- rest --cases get,lock -c 16         two cases at 16 connections
  npm run bench -- rest --build ../old ../new          two builds in turns, in one run
  npm run bench -- growth --sizes 100,10000            does it grow with the data?
  npm run bench -- full --json full.json               everything, for the report; hours
  npm run bench -- report full.json                    writes docs/explanation/performance.md
  npm run bench -- compare before.json after.json      figures that became slower; exit code 1 if there are any
  npm run bench -- profile get                         a flame graph in docs/images

On a shared machine requests per second vary by half. CPU per request and the ratios to bounds of the same run hardly
vary: compare those. Everything runs in new folders in the temporary folder of the system, and is removed at the end.`,
  );

const command = (name, description, seconds = secondsDefault, rounds = 3) =>
  program
    .command(name)
    .description(description)
    .option('-s, --seconds <n>', 'duration of each measurement (or the variable SECS)', parseNumber, seconds)
    .option('-r, --rounds <n>', 'repetitions of each measurement; tables show medians and ranges', parseNumber, rounds)
    .option('--json <file>', 'also write all values to this file, for report and compare');

const buildsOf = async (builds) => builds ?? [(await import('./product.js')).PROJECT];

const restCommand = program.command('rest', { isDefault: true });
restCommand
  .description(
    'requests compared with their bounds, WAL and transactions, memory of the gateway. Needs wrk and pgbench',
  )
  .option('-s, --seconds <n>', 'duration of each measurement (or the variable SECS)', parseNumber, secondsDefault)
  .option('-r, --rounds <n>', 'repetitions of each measurement; tables show medians and ranges', parseNumber, 3)
  .option('-c, --connections <n,n>', 'concurrent connections', parseNumbers, [16, 64])
  .option('--cases <name,name>', 'some cases: see test/bench/cases.js. Default: those with a budget', parseNames)
  .option('--all', 'all cases')
  .option('--build <folder...>', 'built copies of this project to measure; several take turns')
  .option('--json <file>', 'also write all values to this file, for report and compare')
  .action(
    measuring('rest', async ({ build, all, ...options }) => {
      const { rest } = await import('./rest.js');
      return rest({ ...options, isFull: Boolean(all), builds: await buildsOf(build) });
    }),
  );

command('growth', 'the same requests with more and less data, in turns. Needs wrk. About 20 minutes')
  .option(
    '--sizes <n,n>',
    'workspaces of the organization; all is compared with the first',
    parseNumbers,
    [100, 10_000, 100_000],
  )
  .option('--organizations <n,n>', 'numbers of organizations, or "none"', parseNumbers, [10, 1_000])
  .option('--entries <n,n>', 'numbers of entries of the audit trail, or "none"', parseNumbers, [100_000])
  .option('--cases <name,name>', 'some cases: see test/bench/cases.js', parseNames)
  .option('-c, --connections <n>', 'concurrent connections', parseNumber, 16)
  .action(measuring('growth', async (options) => (await import('./growth.js')).growth(options)));

program
  .command('overload')
  .description('more connections than the server can serve: what it answers and refuses, and its memory. Needs wrk')
  .option('-s, --seconds <n>', 'duration of each flood', parseNumber, 10)
  .option('-c, --connections <n,n>', 'concurrent connections', parseNumbers, [480, 1_000, 3_000])
  .option('--cases <name,name>', 'some cases: see test/bench/cases.js', parseNames, ['get', 'tagged', 'patch'])
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('overload', async (options) => (await import('./overload.js')).overload(options)));

program
  .command('publisher')
  .description(
    'events per second compared with kafkajs alone, also after the brokers were away, and the lag at 1,000 events/s. Needs Java 17, Docker or KAFKA_BROKERS',
  )
  .option('-s, --seconds <n>', 'duration of the measurement of the lag', parseNumber, 20)
  .option('-e, --events <n>', 'number of events to publish', parseNumber, 50_000)
  .option('-a, --away <n>', 'seconds without brokers, under writes; 0 leaves it out', parseNumber, 60)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('publisher', async (options) => (await import('./publisher.js')).publisher(options)));

program
  .command('rebuild')
  .description('events per second of each view, and memory')
  .option('-e, --events <n>', 'number of events in the log', parseNumber, 100_000)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('rebuild', async (options) => (await import('./rebuild.js')).rebuild(options)));

command(
  'runs',
  'remote runs with the executor of the server: delays, and the cost of runs that wait. Needs terraform',
  20,
  10,
).action(measuring('runs', async (options) => (await import('./runs.js')).runs(options)));

program
  .command('trail')
  .description('reading, exporting and pruning the trail of one organization. About 20 minutes and 20 GB')
  .option('-e, --entries <n>', 'number of entries, of the past thirteen days', parseNumber, 5_000_000)
  .option('-r, --requests <n>', 'number of requests of each case', parseNumber, 200)
  .option('-k, --keep <days>', 'of the 13 days; older entries are pruned at the end', parseNumber, 10)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('trail', async (options) => (await import('./trail.js')).trail(options)));

program
  .command('proofs')
  .description('proofs of entries in a long log. About 5 minutes and 2 GB')
  .option('-e, --entries <n>', 'number of entries of the log', parseNumber, 10_000_000)
  .option('-n, --requests <n>', 'number of proofs of each kind in a round', parseNumber, 1_000)
  .option('-r, --rounds <n>', 'repetitions; tables show each', parseNumber, 5)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('proofs', async (options) => (await import('./proofs.js')).proofs(options)));

program
  .command('verify')
  .description('entries of an export that cadastre audit verify verifies in a second. About 2 minutes and 1 GB')
  .option('-e, --entries <n>', 'number of entries of the export', parseNumber, 500_000)
  .option('-r, --rounds <n>', 'repetitions; tables show each', parseNumber, 5)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('verify', async (options) => (await import('./verify.js')).verify(options)));

program
  .command('console')
  .description(
    'frames while the list of workspaces scrolls in the console, and the time of interactions. Needs Chromium. Reports only',
  )
  .option('-w, --workspaces <n>', 'workspaces of the organization', parseNumber, 100_000)
  .option('-r, --rounds <n>', 'number of new windows; medians of their longest frames are printed', parseNumber, 3)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('console', async (options) => (await import('./console.js')).consoleBench(options)));

program
  .command('start')
  .description('time until the product responds: first in an empty folder, then again')
  .option('-r, --rounds <n>', 'number of starts; medians are printed', parseNumber, 3)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('start', async (options) => (await import('./start.js')).start(options)));

program
  .command('seed')
  .description('workspaces per second of cadastre seed, and its memory')
  .option('-w, --workspaces <n>', 'number of workspaces', parseNumber, 100_000)
  .option('--json <file>', 'also write all values to this file')
  .action(measuring('seed', async (options) => (await import('./seed.js')).measureSeed(options)));

command(
  'full',
  'all of the above one after the other, for the report. Hours, 60 GB. Needs wrk, pgbench and a broker',
  2,
  5,
)
  .option('--sizes <n,n>', 'workspaces of an organization', parseNumbers, [100, 10_000, 100_000, 1_000_000])
  .option('--organizations <n,n>', 'numbers of organizations, or "none"', parseNumbers, [10, 10_000])
  .option('--entries <n,n>', 'numbers of entries of the audit trail, or "none"', parseNumbers, [10_000_000])
  .option('--without <name,name>', 'parts to leave out, such as publisher,trail', parseNames, [])
  .action(measuring('full', async (options) => (await import('./full.js')).full(options)));

program
  .command('report')
  .argument('<file...>', 'files of --json')
  .option('--docs <folder>', 'folder of the documentation; default: that of this project')
  .description('write docs/explanation/performance.md with tables and plots')
  .action(guarded(async (files, { docs }) => (await import('./report.js')).report(files, docs)));

program
  .command('compare')
  .argument('<before>', 'a file of --json')
  .argument('<after>', 'another one, with the same cases')
  .description('list figures that became slower or faster beyond the spread; exit code 1 if any became slower')
  .action(guarded(async (before, after) => (await import('./compare.js')).compare(before, after)));

program
  .command('profile')
  .argument('<case>', 'a case of test/bench/cases.js, such as get or lock')
  .option('-s, --seconds <n>', 'duration', parseNumber, 5)
  .option('-c, --connections <n>', 'concurrent connections', parseNumber, 16)
  .option('-o, --out <file>', 'SVG file; default: docs/images/flame-CASE.svg')
  .option('--build <folder>', 'a built copy of this project')
  .description('draw a flame graph of the server under the load of a case. Needs wrk')
  .action(guarded(async (name, options) => (await import('./profile.js')).profile({ name, ...options })));

program.showHelpAfterError("See 'npm run bench -- --help'.");

if (import.meta.main) await program.parseAsync();

// npm run bench: measures the product against the bounds of each case. See `npm run bench -- --help`.
import { Command } from 'commander';

const numbers = (text) => text.split(',').map(Number);
const secondsDefault = Number(process.env.SECS ?? 2);

const guarded = (work) => async (options) => {
  try {
    if (!(await work(options))) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
};

const program = new Command('bench')
  .description('Measures the built product (npm run build) against the bounds and budgets of its design. Linux.')
  .addHelpText(
    'after',
    '\nOn a shared machine requests per second vary by half. CPU per request and the ratios to bounds of the same run\n' +
      'hardly vary: compare those. Everything runs in new folders in the temporary folder of the system.',
  );

program
  .command('rest', { isDefault: true })
  .description('GET, list, lock, PATCH, create; memory of the gateway. Needs wrk and pgbench. About 4 minutes')
  .option('-s, --seconds <n>', 'duration of each measurement (or the variable SECS)', Number, secondsDefault)
  .option('-r, --rounds <n>', 'repetitions of each measurement; medians are printed', Number, 3)
  .option('-c, --connections <n,n>', 'concurrent connections', numbers, [1, 16, 64])
  .option('--cases <name,name>', 'some of get, list, lock, patch, create', (text) => text.split(','))
  .option('--build <folder...>', 'built copies of this project to measure; several take turns')
  .action(
    guarded(async ({ build, ...options }) => {
      const { rest } = await import('./rest.js');
      const { PROJECT } = await import('./product.js');
      return rest({ ...options, builds: build ?? [PROJECT] });
    }),
  );

program
  .command('growth')
  .description('the same requests in organizations of different sizes, in turns. Needs wrk. About 6 minutes')
  .option(
    '--sizes <n,n>',
    'numbers of workspaces; the others are compared with the first',
    numbers,
    [100, 10_000, 100_000],
  )
  .option('-s, --seconds <n>', 'duration of each measurement (or the variable SECS)', Number, secondsDefault)
  .option('-r, --rounds <n>', 'repetitions of each measurement; medians are printed', Number, 3)
  .option('-c, --connections <n>', 'concurrent connections', Number, 16)
  .action(guarded(async (options) => (await import('./growth.js')).growth(options)));

program
  .command('publisher')
  .description(
    'events per second compared with kafkajs alone, and the lag at 1,000 events/s. Needs Java 17, Docker or KAFKA_BROKERS',
  )
  .option('-s, --seconds <n>', 'duration of the measurement of the lag', Number, 20)
  .option('-e, --events <n>', 'number of events to publish', Number, 50_000)
  .action(guarded(async (options) => (await import('./publisher.js')).publisher(options)));

program
  .command('rebuild')
  .description('events per second of each view, and memory')
  .option('-e, --events <n>', 'number of events in the log', Number, 100_000)
  .action(guarded(async (options) => (await import('./rebuild.js')).rebuild(options)));

program
  .command('trail')
  .description('reading, exporting and pruning the trail of one organization. About 10 minutes and 10 GB')
  .option('-e, --entries <n>', 'number of entries, of the past thirteen days', Number, 5_000_000)
  .option('-r, --requests <n>', 'number of requests of each case', Number, 200)
  .option('-k, --keep <days>', 'of the 13 days; older entries are pruned at the end', Number, 10)
  .action(guarded(async (options) => (await import('./trail.js')).trail(options)));

program
  .command('start')
  .description('time until the product responds: first in an empty folder, then again')
  .option('-r, --rounds <n>', 'number of starts; medians are printed', Number, 3)
  .action(guarded(async (options) => (await import('./start.js')).start(options)));

if (import.meta.main) await program.parseAsync();

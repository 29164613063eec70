// npm run bench: what DESIGN §5 promises, measured. See `npm run bench -- --help`.
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
    '\nOn a shared machine requests a second move by half; CPU a request and the ratios to bounds measured in the same\n' +
      'run hardly do: compare those. Everything runs in folders of its own under the system’s temporary folder.',
  );

program
  .command('rest', { isDefault: true })
  .description('GET, list, lock, PATCH, create; memory of the gateway. Needs wrk and pgbench. About 4 minutes')
  .option('-s, --seconds <n>', 'of each single measurement (or the variable SECS)', Number, secondsDefault)
  .option('-r, --rounds <n>', 'how often each is repeated; medians are shown', Number, 3)
  .option('-c, --connections <n,n>', 'how many at once', numbers, [1, 16, 64])
  .option('--cases <name,name>', 'some of get, list, lock, patch, create', (text) => text.split(','))
  .option('--build <folder...>', 'another built copy of this project to measure; several are measured in turns')
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
    'workspaces; the first is what the others are compared with',
    numbers,
    [100, 10_000, 100_000],
  )
  .option('-s, --seconds <n>', 'of each single measurement (or the variable SECS)', Number, secondsDefault)
  .option('-r, --rounds <n>', 'how often each is repeated; medians are shown', Number, 3)
  .option('-c, --connections <n>', 'how many at once', Number, 16)
  .action(guarded(async (options) => (await import('./growth.js')).growth(options)));

program
  .command('publisher')
  .description(
    'events a second against kafkajs alone, and the lag at 1,000 events/s. Needs Java 17, Docker or KAFKA_BROKERS',
  )
  .option('-s, --seconds <n>', 'of the lag’s measurement', Number, 20)
  .option('-e, --events <n>', 'to publish', Number, 50_000)
  .action(guarded(async (options) => (await import('./publisher.js')).publisher(options)));

program
  .command('rebuild')
  .description('events a second of each view, and memory')
  .option('-e, --events <n>', 'in the log', Number, 100_000)
  .action(guarded(async (options) => (await import('./rebuild.js')).rebuild(options)));

program
  .command('trail')
  .description('reading, exporting and pruning the trail of one organization. About 10 minutes and 10 GB')
  .option('-e, --entries <n>', 'that it has, of the past thirteen days', Number, 5_000_000)
  .option('-r, --requests <n>', 'of each case', Number, 200)
  .option('-k, --keep <days>', 'what is older is pruned in the end: of 13 days', Number, 10)
  .action(guarded(async (options) => (await import('./trail.js')).trail(options)));

program
  .command('start')
  .description('until requests are answered: in an empty folder, and later')
  .option('-r, --rounds <n>', 'how often; medians are shown', Number, 3)
  .action(guarded(async (options) => (await import('./start.js')).start(options)));

await program.parseAsync();

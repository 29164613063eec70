import type { Command } from 'commander';
import type { Settings } from '#platform/settings';
import { loadCommandSettings, withErrorReport } from '../command-actions.js';
import { withRuntime } from '../command-runtime.js';
import { printLine } from '../output.js';
import { seed } from './seed.js';
import { parseCount, parsePrefix, type SeedOptions } from './seed-options.js';

const MS_PER_SECOND = 1_000;

const formatSeconds = (ms: number): string => `${(ms / MS_PER_SECOND).toFixed(1)} s`;

const runSeed = (settings: Settings, options: SeedOptions): Promise<void> =>
  withRuntime(settings, async (runtime) => {
    const started = performance.now();
    const added = await seed(runtime, options, (work, done, all) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${Math.round(all)} ${work}\u001b[K`);
    });
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    printLine(
      `Added ${added.organizations} organizations with ${added.workspaces} workspaces: ${added.events} events, ` +
        `appended in ${formatSeconds(added.appendMs)}, ${formatSeconds(performance.now() - started)} in all.`,
    );
  });

/** Adds `seed`. */
export const addSeedCommand = (program: Command): void => {
  program
    .command('seed')
    .description('add organizations with made-up workspaces, for demonstrations and benchmarks')
    .option('--prefix <text>', 'beginning of the names of organizations and users', parsePrefix, 'seed')
    .option('--organizations <n>', 'number of organizations', parseCount(1, 100_000), 1)
    .option('--projects <n>', 'projects of each organization, besides the default project', parseCount(0, 100), 0)
    .option('--workspaces <n>', 'workspaces of each organization', parseCount(0, 10_000_000), 100)
    .option(
      '--trail-entries <n>',
      'lock and unlock workspaces until the audit trail of each organization has this number of entries',
      parseCount(0, 100_000_000),
      0,
    )
    .option('--users <n>', 'users that own the organizations and change the workspaces', parseCount(1, 1_000), 10)
    .option('--days <n>', 'spread the changes over the past days', parseCount(0, 3_650), 30)
    .option('--seed <n>', 'the same number gives the same names, tags and ids', parseCount(0, 999_999_999_999), 1)
    .option('--connections <n>', 'concurrent transactions', parseCount(1, 16), 2)
    .action(withErrorReport(async (options: SeedOptions) => runSeed(await loadCommandSettings(), options)));
};

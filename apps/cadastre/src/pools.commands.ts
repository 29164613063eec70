import type { Command } from 'commander';
import { computeExpiry } from '#identity/people';
import { createSitePool, deleteSitePool, listSitePoolsForOperator, SILENT_AGENT_MS } from '#organizations/agents';
import type { Settings } from '#platform/settings';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { formatTable, printLine } from './output.js';
import { describeTokenEnd } from './tokens.commands.js';

const runPoolCreate = (settings: Settings, name: string): Promise<void> =>
  withRuntime(settings, async (runtime) => {
    const expiredAt = computeExpiry(settings.tokenLifetime, runtime.clock.now());
    const token = { description: 'Made at the command line', expiredAt };
    const secret = await createSitePool(runtime, name, token, { existing: 'refuse', by: 'command line' });
    process.stderr.write(`${describeTokenEnd(expiredAt)}\n`);
    printLine(secret);
  });

const POOL_COLUMNS = ['ID', 'NAME', 'AGENTS', 'TOKENS', 'CREATED'] as const;

const runPoolList = (settings: Settings, { json }: { readonly json?: boolean }): Promise<void> =>
  withRuntime(settings, async ({ store, clock }) => {
    const pools = await listSitePoolsForOperator(store, new Date(clock.now().getTime() - SILENT_AGENT_MS));
    if (json) return printLine(JSON.stringify(pools, null, 2));
    const rows = pools.map(({ id, name, agents, tokens, createdAt }) => [
      id,
      name,
      String(agents),
      String(tokens),
      createdAt,
    ]);
    printLine(formatTable(POOL_COLUMNS, rows));
  });

const runPoolDelete = (settings: Settings, name: string): Promise<void> =>
  withRuntime(settings, async (runtime) => {
    await deleteSitePool(runtime, name);
    printLine(`The pool ${name} and its tokens are deleted.`);
  });

/** Adds `pool create`, `pool list` and `pool delete`. */
export const addPoolCommands = (program: Command): void => {
  const pool = program.command('pool').description('agent pools of the site, for executors: create, list, delete');

  pool
    .command('create <name>')
    .description('create a pool of the site, and print a token for its executors once')
    .action(withErrorReport(async (name: string) => runPoolCreate(await loadCommandSettings(), name)));

  pool
    .command('list')
    .description('list the pools of the site')
    .option('--json', 'print JSON')
    .action(withErrorReport(async (options: { json?: boolean }) => runPoolList(await loadCommandSettings(), options)));

  pool
    .command('delete <name>')
    .description('delete a pool of the site with its tokens, so that its executors stop')
    .action(withErrorReport(async (name: string) => runPoolDelete(await loadCommandSettings(), name)));
};

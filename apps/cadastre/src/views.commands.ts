import type { Command } from 'commander';
import { verifyTrailLogs } from '#activity/audit-trail-log';
import { listSimilarNames } from '#api/access';
import {
  listDifferentVersions,
  rebuildView,
  verifySnapshots,
  withVerifier,
  type ViewDifference,
} from '#storage/event-store';
import { StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { readLogEnd, recordVerification } from '#operations/site';
import type { Runtime } from '../../runtime.js';
import { moduleDefinitions, views as allViews } from '../../modules.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { countAllKeyUses } from './key-uses.js';
import { createProgressReporter, printLine } from './output.js';

const runMigrate = (settings: Settings): Promise<void> =>
  withRuntime(
    settings,
    () => {
      printLine('The database is up to date.');
      return Promise.resolve();
    },
    { mayInitialise: true },
  );

const selectViews = (names: readonly string[]) => {
  const unknown = names.find((name) => !allViews.some((view) => view.name === name));
  if (unknown !== undefined) {
    const viewNames = allViews.map(({ name }) => name).join(', ');
    throw new StartupError(`There is no view named ${unknown}. The views are: ${viewNames}.`);
  }
  return names.length === 0 ? allViews : allViews.filter((view) => names.includes(view.name));
};

const runRebuild = async (settings: Settings, names: readonly string[]): Promise<void> => {
  const views = selectViews(names);
  await withRuntime(settings, async ({ store, clock }) => {
    for (const view of views) {
      const started = performance.now();
      const report = createProgressReporter('events');
      await rebuildView(store, view, { now: clock.now(), onEvents: (events) => report(view.name, events) });
      printLine(`${view.name}: rebuilt in ${Math.round(performance.now() - started)} ms`);
    }
  });
};

const describe = ({ table, missing, surplus, durable }: ViewDifference): string =>
  [
    `  ${table}:`,
    ...(durable === undefined ? [] : [`    ${durable}`]),
    ...missing.map((row) => `    missing: ${JSON.stringify(row)}`),
    ...surplus.map((row) => `    surplus: ${JSON.stringify(row)}`),
  ].join('\n');

/** Prints which values no configured key decrypts. Returns whether there are none. */
const verifyKeys = async (runtime: Runtime): Promise<boolean> => {
  const report = createProgressReporter('files examined');
  const uses = await countAllKeyUses(runtime, (prefix) => report(prefix, 1));
  const missing = uses.filter((use) => use.missing > 0);
  const list = missing.map((use) => `${use.missing} of ${use.kind}`).join(', ');
  printLine(
    missing.length === 0
      ? 'keys: every encrypted value has a configured key'
      : `keys: MISSING for ${list}; set CADASTRE_ENCRYPTION_KEY_PREVIOUS to their key, or restore them from a backup`,
  );
  return missing.length === 0;
};

/** Prints which transparency logs differ from their checkpoints. Returns whether there are none. */
const verifyLogs = async ({ store }: Runtime, signal?: AbortSignal): Promise<boolean> => {
  const report = createProgressReporter('logs');
  const onLog = (logs: number) => report('audit trail logs', logs);
  const differences = await verifyTrailLogs(store.database, { signal, onLog });
  printLine(`audit trail logs: ${differences.length === 0 ? 'match their checkpoints' : 'DIFFER'}`);
  for (const { organization, difference } of differences) printLine(`  ${organization}: ${difference}`);
  return differences.length === 0;
};

/**
 * Returns false if a view or a snapshot differs from the log, if a view is still to be rebuilt, or if the key of an
 * encrypted value is missing. The status of the site shows the result.
 */
const runVerify = async (settings: Settings): Promise<boolean> => {
  let clean = true;
  await withRuntime(settings, async (runtime) => {
    const { store, clock } = runtime;
    const end = await readLogEnd(store.database);
    clean = await verifySite(runtime);
    await recordVerification(store.database, clock, { end, isClean: clean });
  });
  return clean;
};

/** Prints the result for each view and for snapshots: see runVerify. */
export const verifySite = async (runtime: Runtime, signal?: AbortSignal): Promise<boolean> => {
  const { store } = runtime;
  let clean = await verifyViews(runtime, signal);
  const wrong = await verifySnapshots(store, moduleDefinitions);
  printLine(`snapshots: ${wrong.length === 0 ? 'match the log' : `DIFFER: ${wrong.join(', ')}`}`);
  clean &&= wrong.length === 0;
  clean = (await verifyLogs(runtime, signal)) && clean;
  clean = (await verifyKeys(runtime)) && clean;
  for (const names of moduleDefinitions.flatMap(({ uniqueNames = [] }) => uniqueNames)) {
    for (const similar of await listSimilarNames(store.database, names)) {
      const location = similar.organization === null ? '' : ` in ${similar.organization}`;
      const list = similar.names.join(', ');
      printLine(`WARNING: names of ${names.noun}${location} differ only in case: ${list}. Rename all but one of them.`);
    }
  }
  return clean;
};

/** Prints the result for each view. Returns false if one differs from the log, or is still to be rebuilt. */
const verifyViews = async ({ store, clock }: Runtime, signal?: AbortSignal): Promise<boolean> => {
  let clean = true;
  const states = await listDifferentVersions(store.database, allViews);
  await withVerifier(store, async (verifier) => {
    for (const view of allViews) {
      signal?.throwIfAborted();
      const stored = states.find((state) => state.view === view)?.stored ?? view.version;
      if (stored < view.version) {
        printLine(
          `${view.name}: not compared; version ${stored} until the projector has rebuilt it as ${view.version}`,
        );
        clean = false;
        continue;
      }
      const report = createProgressReporter('events');
      const differences = await verifier.verify(view, clock.now(), (events) => report(view.name, events));
      printLine(`${view.name}: ${differences.length === 0 ? 'matches the log' : 'DIFFERS'}`);
      for (const difference of differences) printLine(describe(difference));
      clean &&= differences.length === 0;
    }
  });
  return clean;
};

/** Adds `migrate`, `rebuild` and `verify`. */
export const addViewCommands = (program: Command): void => {
  program
    .command('migrate')
    .description('migrate the database to this version, then exit')
    .action(withErrorReport(async () => runMigrate(await loadCommandSettings())));

  program
    .command('rebuild [view...]')
    .description('rebuild views from the log; all views if you name none')
    .action(withErrorReport(async (views: string[]) => runRebuild(await loadCommandSettings(), views)));

  program
    .command('verify')
    .description('compare every view with the log; exits with 1 if one differs')
    .action(
      withErrorReport(async () => {
        if (!(await runVerify(await loadCommandSettings()))) process.exitCode = 1;
      }),
    );
};

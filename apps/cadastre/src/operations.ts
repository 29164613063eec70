import { findNamesDifferingInCase } from '#organizations';
import {
  computeExpiry,
  ensureUser,
  forgetUserByName,
  issueUserToken,
  listTokensOf,
  listUsers,
  makeOwner,
  previewForget,
  revokeToken,
  setEmail,
  type ForgetPreview,
} from '#people';
import { listDifferentVersions, rebuildView, verifyView, verifySnapshots, type ViewDifference } from '#event-store';
import { StartupError, type EnvironmentValues, type Settings } from '#host';
import { readLogEnd, recordVerification } from '#site';
import { describeMissingSite, hasEmbeddedSite } from '../../database-resources.js';
import { migrateDatabase, openRuntime, type Runtime } from '../../runtime.js';
import { moduleDefinitions, views as allViews } from '../../modules.js';
import { requireConfirmation, type Confirm } from './confirmation.js';
import { countAllKeyUses } from './key-uses.js';
import { createProgressReporter, formatTable, printLine } from './output.js';
import { seed } from './seed/seed.js';
import type { SeedOptions } from './seed/seed-options.js';
import { runDoctorChecks } from './doctor.js';

/** Waits for about ten seconds, because a person waits for the command, and a script must not hang. */
const RETRIES = 4;

type WithRuntimeOptions = {
  /** Whether to create a new site if there is none. */
  readonly mayInitialise?: boolean;
  readonly mayContinueRestore?: boolean;
};

/** Runs with the database of the server on the same data folder, or with one started for the time of the command. */
export const withRuntime = async (
  settings: Settings,
  work: (runtime: Runtime) => Promise<void>,
  { mayInitialise = false, mayContinueRestore = false }: WithRuntimeOptions = {},
): Promise<void> => {
  if (!mayInitialise && settings.database.mode === 'embedded' && !(await hasEmbeddedSite(settings))) {
    throw new StartupError(describeMissingSite(settings));
  }
  const runtime = await openRuntime(settings, { name: 'command', beside: true, logToStderr: true });
  try {
    await migrateDatabase(runtime, { retries: RETRIES, mayInitialise, mayContinueRestore });
    await work(runtime);
  } finally {
    await runtime.close();
  }
};

export const runMigrate = (settings: Settings): Promise<void> =>
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

export const runRebuild = async (settings: Settings, names: readonly string[]): Promise<void> => {
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

const MS_PER_SECOND = 1_000;

const formatSeconds = (ms: number): string => `${(ms / MS_PER_SECOND).toFixed(1)} s`;

export const runSeed = (settings: Settings, options: SeedOptions): Promise<void> =>
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

const describe = ({ table, missing, surplus }: ViewDifference): string =>
  [
    `  ${table}:`,
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

/**
 * Returns false if a view or a snapshot differs from the log, if a view is still to be rebuilt, or if the key of an
 * encrypted value is missing. The status of the site shows the result.
 */
export const runVerify = async (settings: Settings): Promise<boolean> => {
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
  clean = (await verifyKeys(runtime)) && clean;
  for (const names of await findNamesDifferingInCase(store.database)) {
    printLine(`WARNING: names of organizations differ only in case: ${names.join(', ')}. Rename all but one of them.`);
  }
  return clean;
};

/** Prints the result for each view. Returns false if one differs from the log, or is still to be rebuilt. */
const verifyViews = async ({ store, clock }: Runtime, signal?: AbortSignal): Promise<boolean> => {
  let clean = true;
  const states = await listDifferentVersions(store.database, allViews);
  for (const view of allViews) {
    signal?.throwIfAborted();
    const stored = states.find((state) => state.view === view)?.stored ?? view.version;
    if (stored < view.version) {
      printLine(`${view.name}: not compared; version ${stored} until the projector has rebuilt it as ${view.version}`);
      clean = false;
      continue;
    }
    const report = createProgressReporter('events');
    const differences = await verifyView(store, view, clock.now(), (events) => report(view.name, events));
    printLine(`${view.name}: ${differences.length === 0 ? 'matches the log' : 'DIFFERS'}`);
    for (const difference of differences) printLine(describe(difference));
    clean &&= differences.length === 0;
  }
  return clean;
};

export type TokenOptions = {
  readonly user: string;
  readonly siteAdmin?: boolean;
  readonly email?: string;
  readonly ownerOf?: string;
  readonly description?: string;
  readonly init?: boolean;
  readonly neverExpires?: boolean;
};

const describeEnd = (end: string | null): string =>
  end === null
    ? 'WARNING: this token never expires. Anyone who gets it can use it until you revoke it (token revoke).'
    : `This token expires at ${end}.`;

export const runTokenCreate = async (settings: Settings, options: TokenOptions): Promise<void> => {
  const work = async ({ store, ids, clock }: Runtime): Promise<void> => {
    const user = await ensureUser(store, ids, options.user, options.siteAdmin ?? false);
    const { email, ownerOf } = options;
    if (email !== undefined) await setEmail(store, ids, user.id, email);
    if (ownerOf !== undefined) await makeOwner(store, ids, { id: user.id, username: options.user }, ownerOf);
    const end = computeExpiry(options.neverExpires ? null : settings.tokenLifetime, clock.now());
    const secret = await issueUserToken(store, ids, user.id, options.description ?? 'Made at the command line', end);
    process.stderr.write(`${describeEnd(end)}\n`);
    printLine(secret);
  };
  try {
    await withRuntime(settings, work, { mayInitialise: options.init ?? false });
  } catch (error) {
    if (!(error instanceof StartupError) || error.message !== describeMissingSite(settings)) throw error;
    throw new StartupError(`${error.message}; --init creates a new site there`, { cause: error });
  }
};

const TOKEN_COLUMNS = ['ID', 'OWNER', 'KIND', 'DESCRIPTION', 'CREATED', 'LAST USED', 'EXPIRES'] as const;

export type ListOptions = { readonly user?: string; readonly json?: boolean };

/** Prints tokens without their secrets, which are not stored. */
export const runTokenList = (settings: Settings, { user, json }: ListOptions): Promise<void> =>
  withRuntime(settings, async ({ store }) => {
    const tokens = await listTokensOf(store, user ?? null);
    if (json) return printLine(JSON.stringify(tokens, null, 2));
    const rows = tokens.map(({ id, owner, kind, description, createdAt, lastUsedAt, expiredAt }) => [
      id,
      owner,
      kind,
      description ?? '–',
      createdAt,
      lastUsedAt ?? 'never',
      expiredAt ?? 'never',
    ]);
    printLine(formatTable(TOKEN_COLUMNS, rows));
  });

export const runTokenRevoke = (settings: Settings, id: string): Promise<void> =>
  withRuntime(settings, async ({ store, ids }) => {
    await revokeToken(store, ids, id);
    printLine(`${id} is revoked.`);
  });

const USER_COLUMNS = ['ID', 'USERNAME', 'EMAIL', 'SITE ADMIN', 'ORGANIZATIONS', 'TOKENS'] as const;

export const runUserList = (settings: Settings, { json }: Pick<ListOptions, 'json'>): Promise<void> =>
  withRuntime(settings, async ({ store }) => {
    const users = await listUsers(store);
    if (json) return printLine(JSON.stringify(users, null, 2));
    const rows = users.map(({ id, username, email, siteAdmin, organizations, tokens }) => [
      id,
      username,
      email ?? '–',
      siteAdmin ? 'yes' : 'no',
      organizations.join(', ') || '–',
      String(tokens),
    ]);
    printLine(formatTable(USER_COLUMNS, rows));
  });

export type ForgetOptions = {
  /** Skips the confirmation. */
  readonly yes: boolean;
  /** Null if there is no terminal. */
  readonly confirm: Confirm | null;
};

const describePreview = (name: string, { id, memberships, teams, tokens }: ForgetPreview): string =>
  [
    `This forgets the user ${name} (${id}) for good:`,
    `  - revokes ${tokens.length} tokens, and removes ${memberships.length} memberships of organizations and ${teams.length} of teams`,
    '  - deletes the key that encrypts the name, e-mail address, client addresses and user agents in the log and in audit trails',
    '  - removes the name from all views, such as histories',
    'The actions of the user stay recorded under the id. Only a backup can restore the name.',
  ].join('\n');

export const runUserForget = (settings: Settings, name: string, { yes, confirm }: ForgetOptions): Promise<void> =>
  withRuntime(settings, async ({ store, forgetting, ids }) => {
    const preview = await previewForget(store, name);
    process.stderr.write(`${describePreview(name, preview)}\n`);
    if (!yes) await requireConfirmation(name, confirm);
    const progress = createProgressReporter('rows searched for the name');
    await forgetUserByName({ store, forgetting, onExamined: (rows, table) => progress(table, rows) }, ids, name);
    printLine(`${name} is forgotten.`);
  });

/** Returns whether no check failed. */
export const runDoctor = async (env: EnvironmentValues, now: () => Date): Promise<boolean> => {
  let isHealthy = true;
  await runDoctorChecks(env, now, ({ result, check, detail }) => {
    isHealthy &&= result !== 'FAILED';
    printLine(`${result.padEnd(7)}  ${check}: ${detail}`);
  });
  return isHealthy;
};

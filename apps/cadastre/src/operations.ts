import { namesDifferingInCase } from '#organizations';
import {
  endOf,
  ensureUser,
  forgetUserNamed,
  issueUserToken,
  listTokensOf,
  listUsers,
  makeOwner,
  previewForgetting,
  revokeToken,
  setEmail,
  type ForgettingPreview,
} from '#people';
import { rebuild, verify, verifySnapshots, viewsOf, type Difference } from '#event-store';
import { StartRefused, type EnvironmentValues, type Settings } from '#host';
import { describeMissingSite, hasEmbeddedSite } from '../../foundation.js';
import { migrateHouse, openHouse, type House } from '../../house.js';
import { slices } from '../../slices.js';
import { examine } from './doctor.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** About ten seconds: somebody waits for the command, and a script must not hang. */
const RETRIES = 4;

type InsideOptions = {
  /** Make a new site where there is none. */
  readonly mayInitialise?: boolean;
};

/** Runs with the database of the server on the same data folder, or with one started for the time of the command. */
const inside = async (
  settings: Settings,
  work: (house: House) => Promise<void>,
  { mayInitialise = false }: InsideOptions = {},
): Promise<void> => {
  if (!mayInitialise && settings.database.mode === 'embedded' && !(await hasEmbeddedSite(settings))) {
    throw new StartRefused(describeMissingSite(settings));
  }
  const house = await openHouse(settings, { name: 'command', beside: true, logToStderr: true });
  try {
    await migrateHouse(house, { retries: RETRIES, mayInitialise });
    await work(house);
  } finally {
    await house.close();
  }
};

export const runMigrate = (settings: Settings): Promise<void> =>
  inside(
    settings,
    () => {
      say('The database is up to date.');
      return Promise.resolve();
    },
    { mayInitialise: true },
  );

/** Counts aloud on a terminal; a log file gets the result only. */
const progressOf = (things: string): ((view: string, more: number) => void) => {
  let total = 0;
  return (view, more) => {
    total += more;
    if (process.stderr.isTTY) process.stderr.write(`\r${view}: ${total} ${things}`);
  };
};

const viewsNamed = (names: readonly string[]) => {
  const views = viewsOf(slices);
  const unknown = names.find((name) => !views.some((view) => view.name === name));
  if (unknown !== undefined) {
    throw new StartRefused(`There is no view named ${unknown}; there are ${views.map(({ name }) => name).join(', ')}.`);
  }
  return names.length === 0 ? views : views.filter((view) => names.includes(view.name));
};

export const runRebuild = async (settings: Settings, names: readonly string[]): Promise<void> => {
  const views = viewsNamed(names);
  await inside(settings, async ({ store }) => {
    for (const view of views) {
      const started = performance.now();
      await rebuild(store, view, progressOf('events'));
      say(`${view.name}: rebuilt in ${Math.round(performance.now() - started)} ms`);
    }
  });
};

const describe = ({ table, missing, surplus }: Difference): string =>
  [
    `  ${table}:`,
    ...missing.map((row) => `    missing: ${JSON.stringify(row)}`),
    ...surplus.map((row) => `    surplus: ${JSON.stringify(row)}`),
  ].join('\n');

/** Resolves to false where a view or a snapshot is not what the log says. */
export const runVerify = async (settings: Settings): Promise<boolean> => {
  let clean = true;
  await inside(settings, async ({ store, clock }) => {
    for (const view of viewsOf(slices)) {
      const differences = await verify(store, view, clock.now(), progressOf('events'));
      say(`${view.name}: ${differences.length === 0 ? 'as the log says' : 'DIFFERS'}`);
      for (const difference of differences) say(describe(difference));
      clean &&= differences.length === 0;
    }
    const wrong = await verifySnapshots(store, slices);
    say(`snapshots: ${wrong.length === 0 ? 'as the log says' : `DIFFER: ${wrong.join(', ')}`}`);
    clean &&= wrong.length === 0;
    for (const names of await namesDifferingInCase(store.database)) {
      say(`WARNING: names of organizations differ only in case: ${names.join(', ')}. Rename all but one of them.`);
    }
  });
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
  const work = async ({ store, ids, clock }: House): Promise<void> => {
    const user = await ensureUser(store, ids, options.user, options.siteAdmin ?? false);
    const { email, ownerOf } = options;
    if (email !== undefined) await setEmail(store, ids, user.id, email);
    if (ownerOf !== undefined) await makeOwner(store, ids, { id: user.id, username: options.user }, ownerOf);
    const end = endOf(options.neverExpires ? null : settings.tokenLifetime, clock.now());
    const secret = await issueUserToken(store, ids, user.id, options.description ?? 'Made at the command line', end);
    process.stderr.write(`${describeEnd(end)}\n`);
    say(secret);
  };
  try {
    await inside(settings, work, { mayInitialise: options.init ?? false });
  } catch (error) {
    if (!(error instanceof StartRefused) || error.message !== describeMissingSite(settings)) throw error;
    throw new StartRefused(`${error.message}; --init makes a new site there`, { cause: error });
  }
};

const TOKEN_COLUMNS = ['ID', 'OWNER', 'KIND', 'DESCRIPTION', 'CREATED', 'LAST USED', 'EXPIRES'] as const;

export type ListOptions = { readonly user?: string; readonly json?: boolean };

/** Prints tokens without their secrets, which are stored nowhere. */
export const runTokenList = (settings: Settings, { user, json }: ListOptions): Promise<void> =>
  inside(settings, async ({ store }) => {
    const tokens = await listTokensOf(store, user ?? null);
    if (json) return say(JSON.stringify(tokens, null, 2));
    const rows = tokens.map(({ id, owner, kind, description, createdAt, lastUsedAt, expiredAt }) => [
      id,
      owner,
      kind,
      description ?? '–',
      createdAt,
      lastUsedAt ?? 'never',
      expiredAt ?? 'never',
    ]);
    say(tableOf(TOKEN_COLUMNS, rows));
  });

export const runTokenRevoke = (settings: Settings, id: string): Promise<void> =>
  inside(settings, async ({ store, ids }) => {
    await revokeToken(store, ids, id);
    say(`${id} is revoked.`);
  });

const USER_COLUMNS = ['ID', 'USERNAME', 'EMAIL', 'SITE ADMIN', 'ORGANIZATIONS', 'TOKENS'] as const;

export const runUserList = (settings: Settings, { json }: Pick<ListOptions, 'json'>): Promise<void> =>
  inside(settings, async ({ store }) => {
    const users = await listUsers(store);
    if (json) return say(JSON.stringify(users, null, 2));
    const rows = users.map(({ id, username, email, siteAdmin, organizations, tokens }) => [
      id,
      username,
      email ?? '–',
      siteAdmin ? 'yes' : 'no',
      organizations.join(', ') || '–',
      String(tokens),
    ]);
    say(tableOf(USER_COLUMNS, rows));
  });

/** Columns as wide as their longest value. Control characters of names cannot reach the terminal. */
const tableOf = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [header, ...rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '?')))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** Resolves to whether a person at the terminal typed the name. */
export type Confirm = (question: string) => Promise<string>;

export type ForgetOptions = {
  /** Do it without a question. */
  readonly yes: boolean;
  /** Null if there is no terminal. */
  readonly ask: Confirm | null;
};

const describePreview = (name: string, { id, memberships, teams, tokens }: ForgettingPreview): string =>
  [
    `This forgets the user ${name} (${id}) for good:`,
    `  - ends ${tokens.length} tokens, ${memberships.length} memberships of organizations and ${teams.length} of teams`,
    '  - deletes the key of the name, e-mail address, client addresses and programs in the log and in audit trails',
    '  - removes the name from everything that has been read from the log, such as histories',
    'What the user did stays recorded, under the id. Nothing but a backup brings the name back.',
  ].join('\n');

export const runUserForget = (settings: Settings, name: string, { yes, ask }: ForgetOptions): Promise<void> =>
  inside(settings, async ({ store, forgetting, ids }) => {
    const preview = await previewForgetting(store, name);
    process.stderr.write(`${describePreview(name, preview)}\n`);
    if (!yes) {
      if (!ask) throw new StartRefused('not confirmed; run this in a terminal, or add --yes. Nothing was changed');
      const answer = await ask(`Type ${name} to confirm: `);
      if (answer.trim() !== name) throw new StartRefused('not confirmed. Nothing was changed');
    }
    const progress = progressOf('rows looked through for the name');
    await forgetUserNamed({ store, forgetting, seen: (rows, table) => progress(table, rows) }, ids, name);
    say(`${name} is forgotten.`);
  });

/** Resolves to whether nothing failed. */
export const runDoctor = async (env: EnvironmentValues, now: () => Date): Promise<boolean> => {
  let isHealthy = true;
  await examine(env, now, ({ result, check, detail }) => {
    isHealthy &&= result !== 'FAILED';
    say(`${result.padEnd(7)}  ${check}: ${detail}`);
  });
  return isHealthy;
};

import { ensureUser, forgetUserNamed, issueUserToken, makeOwner, setEmail } from '#people';
import { rebuild, verify, verifySnapshots, viewsOf, type Difference } from '#event-store';
import { StartRefused, type Settings } from '#host';
import { migrateHouse, openHouse, type House } from '../../house.js';
import { slices } from '../../slices.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** About ten seconds: somebody waits for the command, and a script must not hang. */
const RETRIES = 4;

/** Runs with the database of the server on the same data folder, or with one started for the time of the command. */
const inside = async (settings: Settings, work: (house: House) => Promise<void>): Promise<void> => {
  const house = await openHouse(settings, { name: 'command', beside: true });
  try {
    await migrateHouse(house, { retries: RETRIES });
    await work(house);
  } finally {
    await house.close();
  }
};

export const runMigrate = (settings: Settings): Promise<void> =>
  inside(settings, () => {
    say('The database is up to date.');
    return Promise.resolve();
  });

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
  });
  return clean;
};

export type TokenOptions = {
  readonly user: string;
  readonly siteAdmin?: boolean;
  readonly email?: string;
  readonly ownerOf?: string;
  readonly description?: string;
};

export const runTokenCreate = (settings: Settings, options: TokenOptions): Promise<void> =>
  inside(settings, async ({ store, ids }) => {
    const user = await ensureUser(store, ids, options.user, options.siteAdmin ?? false);
    const { email, ownerOf } = options;
    if (email !== undefined) await setEmail(store, ids, user.id, email);
    if (ownerOf !== undefined) await makeOwner(store, ids, { id: user.id, username: options.user }, ownerOf);
    const secret = await issueUserToken(store, ids, user.id, options.description ?? 'Made at the command line');
    say(secret);
  });

export const runUserForget = (settings: Settings, name: string): Promise<void> =>
  inside(settings, async ({ store, forgetting, ids }) => {
    const progress = progressOf('rows looked through for the name');
    await forgetUserNamed({ store, forgetting, seen: (rows, table) => progress(table, rows) }, ids, name);
    say(`${name} is forgotten.`);
  });

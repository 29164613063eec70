import { hasSameName } from '#platform/kernel';

/** An account with its id, which never changes. */
type PlannedAccount = { readonly id: string; readonly username: string; readonly email: string | null };

/** The operator declares that two accounts belong to one person. Each is named by its user name or its id. */
export type UserMapping = { readonly from: string; readonly to: string };

export type AccountPlan = {
  /** Accounts to create with their ids. */
  readonly created: readonly PlannedAccount[];
  /** Accounts of this site, and the exported accounts that stand for the same people. */
  readonly matched: readonly { readonly account: PlannedAccount; readonly exported: PlannedAccount }[];
  /** Ids of this site by the ids that they replace in the events. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Reasons against the import. Without any, the plan can be executed. */
  readonly problems: readonly string[];
};

/** Parses `OLD=NEW`. Returns null for any other text. */
export const parseUserMapping = (text: string): UserMapping | null => {
  const [from = '', to = '', ...rest] = text.split('=');
  return from !== '' && to !== '' && rest.length === 0 ? { from, to } : null;
};

const describeAccount = ({ id, username }: PlannedAccount): string => `${username} (${id})`;

/** Names that differ only in case can be older than the rule that they are unique regardless of case. */
const findByUsername = (accounts: readonly PlannedAccount[], name: string): PlannedAccount | undefined =>
  accounts.find(({ username }) => username === name) ?? accounts.find(({ username }) => hasSameName(username, name));

const findNamed = (accounts: readonly PlannedAccount[], name: string): PlannedAccount | undefined =>
  accounts.find(({ id }) => id === name) ?? findByUsername(accounts, name);

type ResolvedMapping = { readonly from: PlannedAccount; readonly to: PlannedAccount };

const resolveMapping = (
  { from, to }: UserMapping,
  { exported, present }: AccountPlanInput,
): ResolvedMapping | string => {
  const [source, target] = [findNamed(exported, from), findNamed(present, to)];
  if (!source) return `--map-user ${from}=${to}: the export has no user ${from}`;
  if (!target) return `--map-user ${from}=${to}: this site has no user ${to}`;
  if (source.id !== target.id && exported.some(({ id }) => id === target.id)) {
    return `--map-user ${from}=${to}: the export has the user ${describeAccount(target)} besides ${describeAccount(source)}`;
  }
  return { from: source, to: target };
};

const findRepeated = (values: readonly string[]): string | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);

/** Returns why the account cannot be created; null if it can. */
const findConflict = (account: PlannedAccount, present: readonly PlannedAccount[]): string | null => {
  const { username, email } = account;
  const namesake = findByUsername(present, username);
  const addressee =
    email === null ? undefined : present.find((other) => other.email?.toLowerCase() === email.toLowerCase());
  const other = namesake ?? addressee;
  if (!other) return null;
  const [shared, change] = namesake ? ['user name', 'rename'] : ['e-mail address', 'change the address of'];
  return (
    `${describeAccount(account)} has the ${shared} of ${describeAccount(other)} of this site: if they are one person, add ` +
    `--map-user ${username}=${other.username}; otherwise ${change} one of them`
  );
};

export type AccountPlanInput = {
  /** The accounts of the people in the export, the oldest first. */
  readonly exported: readonly PlannedAccount[];
  /** The accounts of this site that have an id, a name or an address of one of these, or that a mapping names, the oldest first. */
  readonly present: readonly PlannedAccount[];
  /** Ids of exported accounts that this site has forgotten. */
  readonly forgotten: ReadonlySet<string>;
  readonly mappings: readonly UserMapping[];
};

/**
 * Decides which accounts an import creates. An account with the same id is the same person. An account of another id with
 * the same name or address is refused unless the operator maps it.
 */
export const planAccounts = (input: AccountPlanInput): AccountPlan => {
  const { exported, present, forgotten, mappings } = input;
  const resolved = mappings.map((mapping) => resolveMapping(mapping, input));
  const problems = resolved.filter((one) => typeof one === 'string');
  const pairs = resolved.filter((one) => typeof one !== 'string');
  const twice = findRepeated(pairs.map(({ from }) => from.id)) ?? findRepeated(pairs.map(({ to }) => to.id));
  if (twice !== undefined) problems.push(`--map-user: ${twice} occurs twice`);
  const renamed = new Map(pairs.filter(({ from, to }) => from.id !== to.id).map(({ from, to }) => [from.id, to.id]));
  const created = exported.filter(
    ({ id }) => !renamed.has(id) && !forgotten.has(id) && !present.some((account) => account.id === id),
  );
  problems.push(...created.flatMap((account) => findConflict(account, present) ?? []));
  const matched = exported.flatMap((account) => {
    const id = renamed.get(account.id) ?? account.id;
    const own = present.find((other) => other.id === id);
    return own ? [{ account: own, exported: account }] : [];
  });
  return { created, matched, renamed, problems };
};

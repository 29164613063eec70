import { Refusal, sql, type EventContext, type Message } from '#platform/kernel';
import { StartupError } from '#platform/host';
import { createAccount, listSimilarAccounts, type MovedAccount } from '#identity/people';
import type { DatabaseSession } from '#platform/postgres';
import type { ExportedPeople } from '../format/organization-export.manifest.js';
import { planAccounts, type AccountPlan, type UserMapping } from './account-plan.js';

/** The accounts to create with their events, and the ids to replace in the events of the organization. */
export type ResolvedAccounts = Pick<AccountPlan, 'matched' | 'renamed'> & {
  readonly created: readonly { readonly account: MovedAccount; readonly events: readonly Message[] }[];
  /** People of the export that this site has forgotten. */
  readonly forgottenHere: ReadonlySet<string>;
};

/** Throws StartupError with every problem if accounts cannot be matched. Changes nothing. */
export const resolveAccounts = async (
  session: DatabaseSession,
  { accounts }: ExportedPeople,
  mappings: readonly UserMapping[],
): Promise<ResolvedAccounts> => {
  const present = await listSimilarAccounts(
    session,
    accounts,
    mappings.map(({ to }) => to),
  );
  const forgottenHere = await listForgotten(session, accounts);
  const plan = planAccounts({ exported: accounts, present, forgotten: forgottenHere, mappings });
  const problems = [...plan.problems];
  const created = plan.created.map((account) => ({ account, events: tryToCreate(account, problems) }));
  if (problems.length > 0) {
    const lines = [...new Set(problems)].map((problem) => `  ${problem}`).join('\n');
    throw new StartupError(
      `the users of the export cannot be matched with those of this site. Nothing was changed:\n${lines}`,
    );
  }
  return { created, matched: plan.matched, renamed: plan.renamed, forgottenHere };
};

const listForgotten = async (
  session: DatabaseSession,
  accounts: readonly MovedAccount[],
): Promise<ReadonlySet<string>> => {
  const rows = await session.run<{ person: string }>(sql`
    select person from event_store.person_keys where person = any (${accounts.map(({ id }) => id)}::text[]) and key is null`);
  return new Set(rows.map(({ person }) => person));
};

/** Adds the refusal of a name to the problems. */
const tryToCreate = (account: MovedAccount, problems: string[]): readonly Message[] => {
  try {
    return createAccount(account);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { id, username } = account;
    problems.push(
      `${username} (${id}) cannot be created: ${error.message}; add --map-user ${username}=NAME with a user of this site`,
    );
    return [];
  }
};

/** Replaces ids of people in a value of an event. */
export const createRenaming =
  (renamed: ReadonlyMap<string, string>): ((text: string) => string) =>
  (text) =>
    renamed.get(text) ?? text;

/** Replaces ids in the caller of an event. */
export const renameInContext = (context: EventContext, rename: (text: string) => string): EventContext => ({
  ...context,
  accessor: { ...context.accessor, id: rename(context.accessor.id) },
  impersonator: context.impersonator === null ? null : rename(context.impersonator),
  ...(context.linkOf === undefined ? {} : { linkOf: rename(context.linkOf) }),
});

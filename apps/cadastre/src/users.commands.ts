import type { Command } from 'commander';
import { forgetUserByName, listUsers, previewForget, type ForgetPreview } from '#identity/people';
import type { Settings } from '#platform/settings';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { promptAtTerminal, requireConfirmation, type Confirm } from './confirmation.js';
import { createProgressReporter, formatTable, printLine } from './output.js';
import { runUserSignInLink, type SignInLinkOptions } from './sign-in-links.js';

const USER_COLUMNS = ['ID', 'USERNAME', 'EMAIL', 'SITE ADMIN', 'ORGANIZATIONS', 'TOKENS'] as const;

const runUserList = (settings: Settings, { json }: { readonly json?: boolean }): Promise<void> =>
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

type ForgetOptions = {
  /** Skips the confirmation. */
  readonly yes: boolean;
  /** Null if there is no terminal. */
  readonly confirm: Confirm | null;
};

const describePreview = ({ id, username, memberships, teams, tokens }: ForgetPreview): string =>
  [
    `This forgets the user ${username} (${id}) for good:`,
    `  - revokes ${tokens.length} tokens, and removes ${memberships.length} memberships of organizations and ${teams.length} of teams`,
    '  - deletes the key that encrypts the name, e-mail address, client addresses and user agents in the log and in audit trails',
    '  - removes the name from all views, such as histories',
    'The actions of the user stay recorded under the id. Only a backup can restore the name.',
  ].join('\n');

const runUserForget = (settings: Settings, name: string, { yes, confirm }: ForgetOptions): Promise<void> =>
  withRuntime(settings, async ({ store, forgetting, ids }) => {
    const preview = await previewForget(store, name);
    process.stderr.write(`${describePreview(preview)}\n`);
    if (!yes) await requireConfirmation(preview.username, confirm);
    const progress = createProgressReporter('rows searched for the name');
    await forgetUserByName(
      { store, forgetting, onExamined: (rows, table) => progress(table, rows) },
      ids,
      preview.username,
    );
    printLine(`${preview.username} is forgotten.`);
  });

/** Adds `user list`, `user sign-in-link` and `user forget`. */
export const addUserCommands = (program: Command): void => {
  const user = program.command('user').description('users: list, sign-in-link, forget');

  user
    .command('list')
    .description('list the users of the site')
    .option('--json', 'print JSON')
    .action(withErrorReport(async (options: { json?: boolean }) => runUserList(await loadCommandSettings(), options)));

  user
    .command('sign-in-link <name>')
    .description('print a link by which a user can sign in once, within 15 minutes')
    .option('--create', 'create the user if there is none with this name')
    .option('--email <address>', 'set the address of the user')
    .option('--reset', 'the link also removes the password, one-time codes and passkeys of the user')
    .option('--revoke-tokens', 'with --reset, revoke all tokens of the user now, and again when the link is used')
    .option('--yes', 'reset without a confirmation')
    .action(
      withErrorReport(async (name: string, options: SignInLinkOptions) =>
        runUserSignInLink(await loadCommandSettings(), name, { ...options, confirm: promptAtTerminal() }),
      ),
    );

  user
    .command('forget <name>')
    .description(
      "remove a user's memberships and tokens, and permanently delete the name from the log and audit trails",
    )
    .option('--yes', 'do not ask for confirmation')
    .action(
      withErrorReport(async (name: string, { yes = false }: { yes?: boolean }) =>
        runUserForget(await loadCommandSettings(), name, { yes, confirm: promptAtTerminal() }),
      ),
    );
};

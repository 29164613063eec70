import { Option, type Command } from 'commander';
import { TOKEN_ACCESS, UNRESTRICTED, type TokenAccess } from '#api/access';
import {
  computeExpiry,
  ensureUser,
  issueUserToken,
  listTokensOf,
  makeOwner,
  revokeToken,
  setEmail,
} from '#identity/people';
import { StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { describeMissingSite } from '../../database-resources.js';
import type { Runtime } from '../../runtime.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { formatTable, printLine } from './output.js';

type TokenOptions = {
  readonly user: string;
  readonly siteAdmin?: boolean;
  readonly email?: string;
  readonly ownerOf?: string;
  readonly description?: string;
  readonly init?: boolean;
  readonly neverExpires?: boolean;
  readonly access: TokenAccess;
  readonly onlyOrganization?: string;
};

/** Returns the line about the expiry of a new token. */
export const describeTokenEnd = (end: string | null): string =>
  end === null
    ? 'WARNING: this token never expires. Anyone who gets it can use it until you revoke it (token revoke).'
    : `This token expires at ${end}.`;

const runTokenCreate = async (settings: Settings, options: TokenOptions): Promise<void> => {
  const work = async ({ store, ids, clock }: Runtime): Promise<void> => {
    const user = await ensureUser(store, ids, options.user, options.siteAdmin ?? false);
    const { email, ownerOf } = options;
    if (email !== undefined) await setEmail(store, ids, user.id, email);
    if (ownerOf !== undefined) await makeOwner(store, ids, user, ownerOf);
    const end = computeExpiry(options.neverExpires ? null : settings.tokenLifetime, clock.now());
    const description = options.description ?? 'Made at the command line';
    const restriction = { access: options.access, organization: options.onlyOrganization ?? null };
    const secret = await issueUserToken(store, ids, user.id, description, end, restriction);
    process.stderr.write(`${describeTokenEnd(end)}\n`);
    printLine(secret);
  };
  try {
    await withRuntime(settings, work, { mayInitialise: options.init ?? false });
  } catch (error) {
    if (!(error instanceof StartupError) || error.message !== describeMissingSite(settings)) throw error;
    throw new StartupError(`${error.message}; --init creates a new site there`, { cause: error });
  }
};

const TOKEN_COLUMNS = ['ID', 'OWNER', 'KIND', 'ACCESS', 'DESCRIPTION', 'CREATED', 'LAST USED', 'EXPIRES'] as const;

type TokenListOptions = { readonly user?: string; readonly json?: boolean };

/** Prints tokens without their secrets, which are not stored. */
const runTokenList = (settings: Settings, { user, json }: TokenListOptions): Promise<void> =>
  withRuntime(settings, async ({ store }) => {
    const tokens = await listTokensOf(store, user ?? null);
    if (json) return printLine(JSON.stringify(tokens, null, 2));
    const rows = tokens.map(
      ({ id, owner, kind, access, onlyOrganization, description, createdAt, lastUsedAt, expiredAt }) => [
        id,
        owner,
        kind,
        onlyOrganization === null ? access : `${access}, ${onlyOrganization}`,
        description ?? '–',
        createdAt,
        lastUsedAt ?? 'never',
        expiredAt ?? 'never',
      ],
    );
    printLine(formatTable(TOKEN_COLUMNS, rows));
  });

const runTokenRevoke = (settings: Settings, id: string): Promise<void> =>
  withRuntime(settings, async ({ store, ids }) => {
    await revokeToken(store, ids, id);
    printLine(`${id} is revoked.`);
  });

/** Adds `token create`, `token list` and `token revoke`. */
export const addTokenCommands = (program: Command): void => {
  const token = program.command('token').description('API tokens: create, list, revoke');

  token
    .command('create')
    .description('create a token for a user and print it; creates the user if needed')
    .requiredOption('--user <name>', 'name of the user')
    .option('--site-admin', 'make a new user an administrator of the site')
    .option('--email <address>', 'e-mail address of the user, for invitations; replaces the old one')
    .option('--owner-of <organization>', 'make the user an owner of that organization')
    .option('--description <text>', 'what the token is for')
    .option('--never-expires', 'create a token that never expires, instead of after CADASTRE_TOKEN_LIFETIME')
    .addOption(
      new Option('--access <access>', 'what the token may do: all that the user may do, read it, or read audit trails')
        .choices(TOKEN_ACCESS)
        .default(UNRESTRICTED.access),
    )
    .option('--only-organization <organization>', 'give the token access to this organization of the user only')
    .option('--init', 'create a new site if there is none')
    .action(withErrorReport(async (options: TokenOptions) => runTokenCreate(await loadCommandSettings(), options)));

  token
    .command('list')
    .description('list tokens, never their secrets')
    .option('--user <name>', 'only the tokens of this user')
    .option('--json', 'print JSON')
    .action(withErrorReport(async (options: TokenListOptions) => runTokenList(await loadCommandSettings(), options)));

  token
    .command('revoke <id>')
    .description('revoke a token of any kind, by the id that "token list" shows')
    .action(withErrorReport(async (id: string) => runTokenRevoke(await loadCommandSettings(), id)));
};

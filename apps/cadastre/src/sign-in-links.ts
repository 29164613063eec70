import { createSystemContext } from '#api/access';
import type { Settings } from '#platform/settings';
import { badRequest, notFound } from '#platform/kernel';
import { ensureUser, findFirstAdmin, findUserByLogin, revokeTokensOf, setEmail } from '#identity/people';
import { createSignInLink, type SignInLink } from '#identity/sign-in';
import type { Runtime } from '../../runtime.js';
import { requireConfirmation, type Confirm } from './confirmation.js';
import { withRuntime } from './command-runtime.js';
import { printLine } from './output.js';

export type SignInLinkOptions = {
  /** Creates the user if there is none with this name. */
  readonly create?: boolean;
  readonly email?: string;
  /** Whether the link removes every way to sign in that the person has. */
  readonly reset?: boolean;
  /** Whether to revoke the tokens of the person, now and again when the link is used. Requires `reset`. */
  readonly revokeTokens?: boolean;
  readonly yes?: boolean;
};

/** Returns a link for the first administrator, for the first start of a site. */
export const createAdminLink = async (runtime: Runtime): Promise<SignInLink | null> => {
  const admin = await findFirstAdmin(runtime.store);
  if (!admin) return null;
  const { publicUrl } = runtime.settings;
  return createSignInLink(runtime, { user: admin.id, resetsMethods: false, publicUrl });
};

const confirmReset = async (name: string, revokesTokens: boolean, confirm: Confirm | null): Promise<void> => {
  process.stderr.write(
    `The person who opens the link removes the password, one-time codes and passkeys of ${name}, and ends all sessions.\n` +
      (revokesTokens ? `All tokens of ${name} are revoked now, and again when the link is used.\n` : ''),
  );
  await requireConfirmation(name, confirm);
};

const findOrCreateUser = async (
  { store, ids }: Runtime,
  name: string,
  { create = false, email }: SignInLinkOptions,
): Promise<{ readonly id: string; readonly username: string }> => {
  const existing = create ? await ensureUser(store, ids, name, false) : await findUserByLogin(store.database, name);
  if (!existing) throw notFound(`There is no user named ${name}; --create creates the user`);
  if (email !== undefined) await setEmail(store, ids, existing.id, email);
  return existing;
};

/** Prints a link by which a person can sign in once: for a new person, or for one who lost a password or a device. */
export const runUserSignInLink = (
  settings: Settings,
  name: string,
  { confirm, ...options }: SignInLinkOptions & { readonly confirm: Confirm | null },
): Promise<void> =>
  withRuntime(settings, async (runtime) => {
    const { reset: resetsMethods = false, revokeTokens: revokesTokens = false } = options;
    if (revokesTokens && !resetsMethods) {
      throw badRequest(
        '--revoke-tokens: requires --reset, because otherwise anybody who can sign in can create new tokens',
      );
    }
    const { id: user, username } = await findOrCreateUser(runtime, name, options);
    if (resetsMethods && !options.yes) await confirmReset(username, revokesTokens, confirm);
    const { publicUrl } = settings;
    const link = { user, resetsMethods, revokesTokens, publicUrl };
    const { url, expiredAt } = await createSignInLink(runtime, link);
    if (revokesTokens) {
      const context = createSystemContext('command line', runtime.ids.uuid());
      const count = await revokeTokensOf(runtime.store, user, context);
      process.stderr.write(`Revoked ${count} ${count === 1 ? 'token' : 'tokens'} of ${username}.\n`);
    }
    process.stderr.write(`This link signs ${username} in once, until ${expiredAt}. Send it to nobody else.\n`);
    printLine(url);
  });

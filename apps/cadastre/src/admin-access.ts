import { join } from 'node:path';
import { readFileOrNull, readOrCreateSecret, writeAtomically } from '#platform/host';
import { ensureAdmin, hasAdmin, hasToken } from '#identity/people';
import type { Runtime } from '../../runtime.js';
import { createAdminLink } from './sign-in-links.js';

export const ADMIN_TOKEN_FILE = 'admin-token';
const SIGN_IN_LINK_FILE = 'sign-in-link';

/** How an administrator gets access to the site after this start. */
export type AdminAccess = {
  /** Where the administrator's token is; null if neither the settings nor the data folder contain a valid token. */
  readonly token: 'settings' | 'file' | null;
  /** Whether the site had no administrator with a token before this start. */
  readonly isFirstStart: boolean;
};

/**
 * Ensures that there is an administrator's token: the token of the settings, or a token that the first start creates and
 * stores in a file. Creates no token if an administrator exists: a second gateway and a restored site have a data folder
 * without that file.
 */
export const ensureAdminAccess = async ({ settings, store, ids }: Runtime): Promise<AdminAccess> => {
  const isFirstStart = !(await hasAdmin(store));
  if (settings.adminToken !== null) {
    await ensureAdmin(store, ids, settings.adminToken);
    return { token: 'settings', isFirstStart };
  }
  if (isFirstStart) {
    const token = await readOrCreateSecret(settings.dataFolder, ADMIN_TOKEN_FILE, () => ids.secret());
    await ensureAdmin(store, ids, token);
    return { token: 'file', isFirstStart };
  }
  const stored = await readFileOrNull(join(settings.dataFolder, ADMIN_TOKEN_FILE));
  const isValid = stored !== null && (await hasToken(store, stored.trim()));
  return { token: isValid ? 'file' : null, isFirstStart };
};

/**
 * Returns how the administrator can sign in once: the link, or the path of a file with the link. Without
 * a terminal, the output usually goes to a journal that others can read, so the link is written to a file.
 */
export const presentSignInLink = async (runtime: Runtime, isTerminal: boolean): Promise<string | null> => {
  const link = await createAdminLink(runtime);
  if (link === null || isTerminal) return link?.url ?? null;
  const file = join(runtime.settings.dataFolder, SIGN_IN_LINK_FILE);
  await writeAtomically(file, `${link.url}\n`, 0o600);
  return `in ${file}`;
};

import { z } from 'zod';
import { variable } from './variable.js';

/** A whole number in this range, or `off`, which becomes null: no limit. */
const limit = (least: number, most: number, otherwise: number) =>
  z
    .string()
    .refine(
      (text) => text === 'off' || (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most),
      `must be a whole number from ${least} to ${most}, or off`,
    )
    .transform((text) => (text === 'off' ? null : Number(text)))
    .default(otherwise);

/** What callers may use of the server. */
export const limitVariables = {
  CADASTRE_RATE_LIMIT: variable(
    '100',
    'requests per second for each token, with bursts of twice that; or off',
    // go-tfe allows itself bursts of a third of this number, and fails on every request if that is less than one.
    limit(4, 100_000, 100),
  ),
  CADASTRE_ADDRESS_RATE_LIMIT: variable(
    '500',
    'requests per second from each address without a valid token, with bursts of twice that; or off',
    limit(4, 100_000, 500),
  ),
  CADASTRE_WRONG_TOKEN_LIMIT: variable(
    '60',
    'requests with a wrong token that each address may send per minute; or off',
    limit(1, 100_000, 60),
  ),
  CADASTRE_ACCESS_CHANGE_LIMIT: variable(
    '20',
    'tokens that each caller may create per second, and changes of their own account, with bursts of twice that; or off',
    limit(1, 100_000, 20),
  ),
  CADASTRE_MAX_ORGANIZATIONS_PER_USER: variable(
    '100',
    'organizations that a user can own and still create another one; administrators of the site have no limit; or off',
    limit(1, 1_000_000, 100),
  ),
  CADASTRE_MAX_USERS: variable(
    '10000',
    'users of the site; at that number, invitations create no more, only the command line does; or off',
    limit(1, 100_000_000, 10_000),
  ),
  CADASTRE_MAX_TOKENS_PER_OWNER: variable(
    '500',
    'tokens of each user, team, organization and agent pool; or off',
    limit(1, 1_000_000, 500),
  ),
} as const;

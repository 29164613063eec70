import { unprocessable } from '../errors/refusal.js';

/**
 * The largest numbers that callers may reach; null for no limit. They are settings of the site and are injected by this
 * class.
 */
export abstract class Quotas {
  abstract readonly organizationsPerUser: number | null;
  abstract readonly users: number | null;
  /** Invitations that nobody has accepted. */
  abstract readonly invitationsPerOrganization: number | null;
  abstract readonly invitationsPerCaller: number | null;
  abstract readonly tokensPerOwner: number | null;
  /** Compressed variables of the runs of an organization that have not ended. */
  abstract readonly runValuesMib: number | null;
}

const QUOTA_RULES = {
  organizationsPerUser: {
    describe: (most) => `A user can own at most ${most} organizations (CADASTRE_MAX_ORGANIZATIONS_PER_USER)`,
    remedy: 'Delete one, or ask the operator of the site for a higher quota',
  },
  users: {
    describe: (most) => `The site can have at most ${most} users (CADASTRE_MAX_USERS)`,
    remedy: 'Ask the operator of the site for a higher quota',
  },
  invitationsPerOrganization: {
    describe: (most) =>
      `An organization can have at most ${most} invitations that nobody has accepted (CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION)`,
    remedy: 'Delete one, or ask the operator of the site for a higher quota',
  },
  invitationsPerCaller: {
    describe: (most) =>
      `A caller can have at most ${most} invitations that nobody has accepted (CADASTRE_MAX_INVITATIONS_PER_CALLER)`,
    remedy: 'Delete one, or ask the operator of the site for a higher quota',
  },
  tokensPerOwner: {
    describe: (most) =>
      `A user, team, organization or agent pool can have at most ${most} tokens (CADASTRE_MAX_TOKENS_PER_OWNER)`,
    remedy: 'Delete one, or ask the operator of the site for a higher quota',
  },
  runValuesMib: {
    describe: (most) =>
      `The runs of an organization that have not ended can store at most ${most} MiB of variables (CADASTRE_MAX_RUN_VALUES_MIB_PER_ORGANIZATION)`,
    remedy: 'Wait until runs end, discard or cancel some, or ask the operator of the site for a higher quota',
  },
} as const satisfies Record<keyof Quotas, { describe: (most: number) => string; remedy: string }>;

/**
 * Throws 422 if a further item would exceed the quota; null for no quota.
 *
 * Requests that run at the same time read the same count and can exceed a quota together. That is harmless: the excess
 * is at most the number of such requests, the next request is refused, and nothing relies on the exact number. An exact
 * count would make callers of different organizations wait for one another.
 */
export const checkQuota = (name: keyof Quotas, most: number | null, existing: number): void => {
  if (most === null || existing < most) return;
  const { describe, remedy } = QUOTA_RULES[name];
  throw unprocessable(`${describe(most)}. ${remedy}`);
};

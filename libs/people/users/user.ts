import {
  runAllChecks,
  checkName,
  conflict,
  pickChanged,
  PATH_NAME_RULE,
  hasNoChanges,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#kernel';

type UserCreation = { username: string; email: string | null; siteAdmin: boolean };

/** An address that has been forgotten is read as null; nobody asks for that. */
export type UserChanges = Partial<{
  readonly username: string;
  readonly email: string | null;
  /** The address that the person asked for. Invitations do not go by it until it is confirmed. */
  readonly unconfirmedEmail: string | null;
}>;

/** With it goes the key to their texts: no event tells any more what they were called (ADR 25). */
export type UserForgotten = Message<'UserForgotten', Record<never, never>>;

export type UserEvent =
  Message<'UserCreated', UserCreation> | Message<'UserUpdated', { changes: UserChanges }> | UserForgotten;

export type UserCommand =
  | Message<'CreateUser', UserCreation>
  /** `confirmsEmail`: a new `email` replaces the present one at once. Otherwise it stays unconfirmed. */
  | Message<'UpdateUser', { changes: UserChanges; confirmsEmail: boolean }>
  /** `owned`: names of organizations that they alone own; `isLastAdmin`: of the site. */
  | Message<'ForgetUser', { owned: readonly string[]; isLastAdmin: boolean }>;

type UserState =
  | { readonly status: 'absent' | 'forgotten' }
  | {
      readonly status: 'active';
      readonly username: string;
      readonly email: string | null;
      readonly unconfirmedEmail: string | null;
    };

const USERNAME_RULE = { ...PATH_NAME_RULE, attribute: 'username', most: 64 };

/** Names that readers take for the installation itself, or for its operators. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'administrator',
  'anonymous',
  'cadastre',
  'root',
  'support',
  'system',
]);

/** Prefixes of ids: a username that begins like an id is taken for one in trails, locks and logs. */
const ID_PREFIXES = [
  'agent',
  'apool',
  'apply',
  'at',
  'cv',
  'drp',
  'gpgkey',
  'org',
  'ot',
  'ou',
  'plan',
  'prj',
  'prov',
  'provpltfrm',
  'provver',
  'rtk',
  'run',
  'sshkey',
  'sv',
  'tag',
  'tb',
  'team',
  'tprj',
  'tws',
  'user',
  'var',
  'varset',
  'ws',
  'wsc',
  'wsout',
] as const;
const LIKE_AN_ID = new RegExp(`^(?:${ID_PREFIXES.join('|')})-`, 'i');

const isReserved = (username: string): boolean => RESERVED.has(username.toLowerCase());

/** Refuses names that could be taken for something else; users that have one keep it. */
const checkMisleading = (username: string): void => {
  if (isReserved(username)) {
    throw unprocessable(`Username is reserved: choose another one than ${username}`, 'username');
  }
  if (LIKE_AN_ID.test(username)) {
    throw unprocessable(
      `Username must not look like an id: it begins with ${username.slice(0, username.indexOf('-') + 1)}`,
      'username',
    );
  }
};

/** Whether mail arrives is known only to who sends some; this tells an address from what is none at all. */
export const checkEmail = (email: string, attribute: 'email' | 'unconfirmed-email' = 'email'): void => {
  if (email === '') throw unprocessable("Email can't be blank", attribute);
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) throw unprocessable('Email is invalid', attribute);
};

/** Returns a username for someone known by an address only: its local part, as far as usernames allow it. */
export const deriveUsername = (email: string): string => {
  const local = email.slice(0, email.lastIndexOf('@'));
  const name = local.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  const short = name.slice(0, USERNAME_RULE.most / 2) || 'user';
  if (isReserved(short)) return `${short}_`;
  return LIKE_AN_ID.test(short) ? short.replace('-', '_') : short;
};

/** Returns another username for the same person, when the first one is taken; `suffix` is random. */
export const deriveOtherUsername = (username: string, suffix: string): string => `${username}_${suffix}`;

const checkUsername = (username: string): void => {
  checkName(username, USERNAME_RULE);
  checkMisleading(username);
};

/**
 * Returns the changes with the addresses that result from them. A new `email` wins over `unconfirmedEmail`, because clients
 * send whole documents back; the present address clears the unconfirmed one.
 */
const resolveAddresses = (
  { email, unconfirmedEmail, ...others }: UserChanges,
  present: string | null,
  confirmsEmail: boolean,
): UserChanges => {
  if (email !== undefined && email !== present) {
    return { ...others, ...(confirmsEmail ? { email, unconfirmedEmail: null } : { unconfirmedEmail: email }) };
  }
  if (email === undefined && unconfirmedEmail === undefined) return others;
  const wanted = unconfirmedEmail ?? null;
  return { ...others, unconfirmedEmail: wanted === present ? null : wanted };
};

export const user: Decider<UserState, UserCommand, UserEvent> = {
  version: 3,
  initial: { status: 'absent' },
  decide: {
    CreateUser: ({ username, email, siteAdmin }, state) => {
      if (state.status !== 'absent') throw conflict('User exists already');
      // The operator makes administrators, the first one under the name `admin`.
      if (!siteAdmin || !isReserved(username)) checkMisleading(username);
      return [{ type: 'UserCreated', data: { username, email, siteAdmin } }];
    },
    UpdateUser: ({ changes, confirmsEmail }, before) => {
      const state = requireActive(before);
      const { username, email, unconfirmedEmail } = pickChanged(state, changes);
      runAllChecks(
        () => username !== undefined && checkUsername(username),
        () => email !== undefined && checkEmail(email ?? ''),
        () => typeof unconfirmedEmail === 'string' && checkEmail(unconfirmedEmail, 'unconfirmed-email'),
      );
      const changed = pickChanged(state, resolveAddresses(changes, state.email, confirmsEmail));
      return hasNoChanges(changed) ? [] : [{ type: 'UserUpdated', data: { changes: changed } }];
    },
    ForgetUser: ({ owned, isLastAdmin }, state) => {
      requireActive(state);
      if (owned.length > 0) {
        throw unprocessable(
          `The last active owner of ${owned.join(', ')} cannot be forgotten; name another owner first`,
        );
      }
      if (isLastAdmin) throw unprocessable('The last administrator of the site cannot be forgotten');
      return [{ type: 'UserForgotten', data: {} }];
    },
  },
  evolve: {
    UserCreated: ({ username, email }) => ({ status: 'active', username, email, unconfirmedEmail: null }),
    UserUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    UserForgotten: () => ({ status: 'forgotten' }),
  },
};

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
} from '#platform/kernel';

type UserCreation = { username: string; email: string | null; siteAdmin: boolean };

/** `email` is null only in events of a forgotten person. No request sets it to null. */
export type UserChanges = Partial<{
  readonly username: string;
  readonly email: string | null;
  /** Address that the person requested. Invitations ignore it until it is confirmed. */
  readonly unconfirmedEmail: string | null;
}>;

/** Deletes the encryption key of the person's data, so that no event shows their name any more (ADR 25). */
export type UserForgotten = Message<'UserForgotten', Record<never, never>>;

/**
 * The verified owner of the address has taken over an account that only an invitation had created, or an operator has
 * created a sign-in link for it.
 */
type UserConfirmed = Message<'UserConfirmed', Record<never, never>>;

/** `organizations`: ids of the organizations in which the user is an active member. Their audit trails record the event. */
type Suspension = { readonly organizations: readonly string[] };

export type UserEvent =
  | Message<'UserCreated', UserCreation>
  | Message<'UserUpdated', { changes: UserChanges }>
  | Message<'UserSuspended', Suspension>
  | Message<'UserUnsuspended', Suspension>
  | Message<'SiteAdminGranted', Record<never, never>>
  | Message<'SiteAdminRevoked', Record<never, never>>
  | UserConfirmed
  | UserForgotten;

export type UserCommand =
  | Message<'CreateUser', UserCreation>
  /** `confirmsEmail`: a new `email` replaces the present one at once. Otherwise it stays unconfirmed. */
  | Message<'UpdateUser', { changes: UserChanges; confirmsEmail: boolean }>
  | Message<'ConfirmUser', Record<never, never>>
  | Message<'ForgetUser', Indispensability>
  | Message<'SuspendUser', Indispensability & Suspension>
  | Message<'UnsuspendUser', Suspension>
  /** `onlyInvited`: nobody has used the account yet. Its first user could be any person with the address. */
  | Message<'GrantSiteAdmin', { onlyInvited: boolean }>
  | Message<'RevokeSiteAdmin', Pick<Indispensability, 'isLastAdmin'>>;

/**
 * `owned`: names of the organizations whose only active owner is the user. `isLastAdmin`: the last active administrator
 * of the site.
 */
type Indispensability = { readonly owned: readonly string[]; readonly isLastAdmin: boolean };

type UserState =
  | { readonly status: 'absent' | 'forgotten' }
  | {
      readonly status: 'active';
      /** Whether the user cannot sign in and has no tokens. Memberships and teams stay. */
      readonly suspended: boolean;
      readonly siteAdmin: boolean;
      readonly username: string;
      readonly email: string | null;
      readonly unconfirmedEmail: string | null;
    };

const USERNAME_RULE = { ...PATH_NAME_RULE, attribute: 'username', most: 64 };

/** Names that could be mistaken for the installation or its operators. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'administrator',
  'anonymous',
  'cadastre',
  'root',
  'support',
  'system',
]);

/** Prefixes of ids. In audit trails, locks and logs, a username with such a prefix could be mistaken for an id. */
const ID_PREFIXES = [
  'agent',
  'apool',
  'apply',
  'at',
  'cv',
  'drp',
  'gpgkey',
  'idp',
  'lid',
  'org',
  'ot',
  'ou',
  'pk',
  'plan',
  'prj',
  'prov',
  'provpltfrm',
  'provver',
  'rtk',
  'run',
  'scg',
  'scu',
  'ses',
  'sim',
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

/** Refuses names that could be mistaken for something else. Existing users keep such names. */
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

/** Refuses texts that are not an address. Does not check whether mail arrives. */
export const checkEmail = (email: string, attribute: 'email' | 'unconfirmed-email' = 'email'): void => {
  if (email === '') throw unprocessable("Email can't be blank", attribute);
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) throw unprocessable('Email is invalid', attribute);
};

/** Returns a username for a person known only by address: the local part, reduced to the characters of usernames. */
export const deriveUsername = (email: string): string => {
  const local = email.slice(0, email.lastIndexOf('@'));
  const name = local.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  const short = name.slice(0, USERNAME_RULE.most / 2) || 'user';
  if (isReserved(short)) return `${short}_`;
  return LIKE_AN_ID.test(short) ? short.replace('-', '_') : short;
};

/** Returns an alternative username for a person if the first one is taken. `suffix` is random. */
export const deriveOtherUsername = (username: string, suffix: string): string => `${username}_${suffix}`;

const checkUsername = (username: string): void => {
  checkName(username, USERNAME_RULE);
  checkMisleading(username);
};

/** Returns whether new users can have this username. Other users may have it already. */
export const isValidUsername = (username: string): boolean =>
  username.length <= USERNAME_RULE.most &&
  USERNAME_RULE.pattern.test(username) &&
  !isReserved(username) &&
  !LIKE_AN_ID.test(username);

/**
 * Returns the changes with the resulting addresses. A new `email` wins over `unconfirmedEmail`, because clients send
 * whole documents back. The present address clears the unconfirmed one.
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
  const requestedEmail = unconfirmedEmail ?? null;
  return { ...others, unconfirmedEmail: requestedEmail === present ? null : requestedEmail };
};

/** Refuses to take away the last person who can manage an organization or the site. */
const checkDispensable = ({ owned, isLastAdmin }: Indispensability, done: 'forgotten' | 'suspended'): void => {
  if (owned.length > 0) {
    throw unprocessable(`The last active owner of ${owned.join(', ')} cannot be ${done}; name another owner first`);
  }
  if (isLastAdmin) throw unprocessable(`The last administrator of the site cannot be ${done}`);
};

/** Refuses accounts that nobody can sign in to, or whose user is not known yet. */
const checkPromotable = ({ suspended }: { readonly suspended: boolean }, onlyInvited: boolean): void => {
  if (suspended) throw unprocessable('A suspended user cannot administer the site; end the suspension first');
  if (onlyInvited) {
    throw unprocessable('The user is invited and has not used the account yet, so it cannot administer the site');
  }
};

export const user: Decider<UserState, UserCommand, UserEvent> = {
  // 4: states contain `suspended`. 5: states contain `siteAdmin`.
  version: 5,
  initial: { status: 'absent' },
  decide: {
    CreateUser: ({ username, email, siteAdmin }, state) => {
      if (state.status !== 'absent') throw conflict('User exists already');
      // Operators create administrators, the first one with the name `admin`.
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
    ConfirmUser: (_, state) => {
      if (requireActive(state).suspended) throw conflict('User is suspended');
      return [{ type: 'UserConfirmed', data: {} }];
    },
    ForgetUser: (need, state) => {
      requireActive(state);
      checkDispensable(need, 'forgotten');
      return [{ type: 'UserForgotten', data: {} }];
    },
    SuspendUser: ({ organizations, ...need }, state) => {
      if (requireActive(state).suspended) return [];
      checkDispensable(need, 'suspended');
      return [{ type: 'UserSuspended', data: { organizations } }];
    },
    UnsuspendUser: ({ organizations }, state) =>
      requireActive(state).suspended ? [{ type: 'UserUnsuspended', data: { organizations } }] : [],
    GrantSiteAdmin: ({ onlyInvited }, before) => {
      const state = requireActive(before);
      if (state.siteAdmin) return [];
      checkPromotable(state, onlyInvited);
      return [{ type: 'SiteAdminGranted', data: {} }];
    },
    RevokeSiteAdmin: ({ isLastAdmin }, state) => {
      if (!requireActive(state).siteAdmin) return [];
      if (isLastAdmin) {
        throw unprocessable('The last administrator of the site must stay one; name another administrator first');
      }
      return [{ type: 'SiteAdminRevoked', data: {} }];
    },
  },
  evolve: {
    UserCreated: ({ username, email, siteAdmin }) => ({
      status: 'active',
      suspended: false,
      siteAdmin,
      username,
      email,
      unconfirmedEmail: null,
    }),
    UserUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    UserSuspended: (_, state) => (state.status === 'active' ? { ...state, suspended: true } : state),
    UserUnsuspended: (_, state) => (state.status === 'active' ? { ...state, suspended: false } : state),
    SiteAdminGranted: (_, state) => (state.status === 'active' ? { ...state, siteAdmin: true } : state),
    SiteAdminRevoked: (_, state) => (state.status === 'active' ? { ...state, siteAdmin: false } : state),
    UserConfirmed: (_, state) => state,
    UserForgotten: () => ({ status: 'forgotten' }),
  },
};

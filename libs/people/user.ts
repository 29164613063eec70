import {
  checkAll,
  checkName,
  conflict,
  differences,
  IN_PATHS,
  isNothing,
  notFound,
  unprocessable,
  type Decider,
  type Message,
} from '#kernel';

type Birth = { username: string; email: string | null; siteAdmin: boolean };

/** An address that has been forgotten is read as null; nobody asks for that. */
export type UserChanges = Partial<{ readonly username: string; readonly email: string | null }>;

/** With it goes the key to their texts: no event tells any more what they were called (ADR 25). */
export type UserForgotten = Message<'UserForgotten', Record<never, never>>;

export type UserEvent =
  Message<'UserCreated', Birth> | Message<'UserUpdated', { changes: UserChanges }> | UserForgotten;

export type UserCommand =
  | Message<'CreateUser', Birth>
  | Message<'UpdateUser', { changes: UserChanges }>
  /** `owned`: names of organizations that they alone own; `isLastAdmin`: of the site. */
  | Message<'ForgetUser', { owned: readonly string[]; isLastAdmin: boolean }>;

type User =
  | { readonly status: 'absent' | 'forgotten' }
  | { readonly status: 'active'; readonly username: string; readonly email: string | null };

const USERNAME = { ...IN_PATHS, attribute: 'username', most: 64 };

/** Whether mail arrives is known only to who sends some; this tells an address from what is none at all. */
export const checkEmail = (email: string): void => {
  if (email === '') throw unprocessable("Email can't be blank", 'email');
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) throw unprocessable('Email is invalid', 'email');
};

/** What somebody is called who is known by an address only: its local part, as far as names allow it. */
export const usernameFrom = (email: string): string => {
  const local = email.slice(0, email.lastIndexOf('@'));
  const name = local.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return name.slice(0, USERNAME.most / 2) || 'user';
};

export const user: Decider<User, UserCommand, UserEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateUser: ({ username, email, siteAdmin }, state) => {
      if (state.status !== 'absent') throw conflict('User exists already');
      return [{ type: 'UserCreated', data: { username, email, siteAdmin } }];
    },
    UpdateUser: ({ changes }, state) => {
      if (state.status !== 'active') throw notFound();
      const changed = differences(state, changes);
      checkAll(
        () => changed.username !== undefined && checkName(changed.username, USERNAME),
        () => changed.email !== undefined && checkEmail(changed.email ?? ''),
      );
      return isNothing(changed) ? [] : [{ type: 'UserUpdated', data: { changes: changed } }];
    },
    ForgetUser: ({ owned, isLastAdmin }, state) => {
      if (state.status !== 'active') throw notFound();
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
    UserCreated: ({ username, email }) => ({ status: 'active', username, email }),
    UserUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    UserForgotten: () => ({ status: 'forgotten' }),
  },
};

import { conflict, notFound, unprocessable, type Decider, type Message } from '#kernel';

type Birth = { username: string; email: string | null; siteAdmin: boolean };

export type UserChanges = Partial<{ readonly username: string; readonly email: string }>;

export type UserEvent = Message<'UserCreated', Birth> | Message<'UserUpdated', { changes: UserChanges }>;

export type UserCommand = Message<'CreateUser', Birth> | Message<'UpdateUser', { changes: UserChanges }>;

type User =
  | { readonly status: 'absent' }
  | { readonly status: 'active'; readonly username: string; readonly email: string | null };

const LONGEST_USERNAME = 64;

const checkUsername = (username: string): void => {
  if (username === '') throw unprocessable("Username can't be blank", 'username');
  if (!/^[A-Za-z0-9_-]+$/.test(username)) {
    throw unprocessable('Username may only contain letters, numbers, dashes and underscores', 'username');
  }
  if (username.length > LONGEST_USERNAME) {
    throw unprocessable(`Username is too long (at most ${LONGEST_USERNAME} characters)`, 'username');
  }
};

/** Whether mail arrives is known only to who sends some; this tells an address from what is none at all. */
export const checkEmail = (email: string): void => {
  if (email === '') throw unprocessable("Email can't be blank", 'email');
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) throw unprocessable('Email is invalid', 'email');
};

/** What somebody is called who is known by an address only: its local part, as far as names allow it. */
export const usernameFrom = (email: string): string => {
  const local = email.slice(0, email.lastIndexOf('@'));
  const name = local.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return name.slice(0, LONGEST_USERNAME / 2) || 'user';
};

export const user: Decider<User, UserCommand, UserEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateUser: ({ username, email, siteAdmin }, state) => {
      if (state.status === 'active') throw conflict('User exists already');
      return [{ type: 'UserCreated', data: { username, email, siteAdmin } }];
    },
    UpdateUser: ({ changes: { username, email } }, state) => {
      if (state.status !== 'active') throw notFound();
      const changes = {
        ...(username === undefined || username === state.username ? {} : { username }),
        ...(email === undefined || email === state.email ? {} : { email }),
      };
      if (changes.username !== undefined) checkUsername(changes.username);
      if (changes.email !== undefined) checkEmail(changes.email);
      return Object.keys(changes).length === 0 ? [] : [{ type: 'UserUpdated', data: { changes } }];
    },
  },
  evolve: {
    UserCreated: ({ username, email }) => ({ status: 'active', username, email }),
    UserUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
  },
};

import { conflict, type Decider, type Message } from '#kernel';

export type UserEvent = Message<'UserCreated', { username: string; email: string | null; siteAdmin: boolean }>;

export type UserCommand = Message<'CreateUser', { username: string; email: string | null; siteAdmin: boolean }>;

type User = { readonly status: 'absent' } | { readonly status: 'active'; readonly username: string };

export const user: Decider<User, UserCommand, UserEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateUser: ({ username, email, siteAdmin }, state) => {
      if (state.status === 'active') throw conflict('User exists already');
      return [{ type: 'UserCreated', data: { username, email, siteAdmin } }];
    },
  },
  evolve: {
    UserCreated: ({ username }) => ({ status: 'active', username }),
  },
};

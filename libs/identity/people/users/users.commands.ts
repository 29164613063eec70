import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { UserChanges } from './user.js';
import type { UserRow } from './users.queries.js';

export type UserOperations = {
  /** Changes the caller's own account. */
  UpdateUser: Operation<{ changes: UserChanges; actor: Actor }, UserRow>;
  /** For site administrators: erases the person from the site. */
  ForgetUser: Operation<{ id: string; actor: Actor }, void>;
  /** For site administrators: ends the user's tokens and refuses new ones. */
  SuspendUser: Operation<{ id: string; actor: Actor }, UserRow>;
  UnsuspendUser: Operation<{ id: string; actor: Actor }, UserRow>;
};

export class ChangeUser<T extends keyof UserOperations> extends AggregateCommand<UserOperations, T> {}

import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { unprocessable } from '#kernel';
import { EventStore, Forgetting, brokenUnique, firstRow } from '#event-store';
import { contextOf, demand, fresh, may, SITE, type Actor } from '#access';
import { user, type UserChanges } from './user.js';
import { forgetUser } from './users.forgetting.js';
import { userById, userForCommand, userToForget, type UserRow } from './users.queries.js';

/** A change of the caller's own account. */
export class UpdateAccount extends Command<UserRow> {
  constructor(
    readonly changes: UserChanges,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** For `catch`: says which of the names that are unique has been taken. */
export const refuseTaken = (error: unknown): never => {
  const broken = brokenUnique(error);
  if (broken === 'users_username_key') throw unprocessable('Username has already been taken', 'username');
  if (broken === 'users_email_key') throw unprocessable('Email has already been taken', 'email');
  throw error;
};

@CommandHandler(UpdateAccount)
export class UsersHandler implements ICommandHandler<UpdateAccount> {
  constructor(private readonly store: EventStore) {}

  async execute({ changes, actor }: UpdateAccount): Promise<UserRow> {
    const { rows } = await this.store
      .handle({
        decider: user,
        load: async () => {
          const snapshot = await userForCommand(this.store.database, actor, 'update-account', actor.id);
          return this.store.restore(actor.id, user, snapshot);
        },
        // Invitations go by address: an address that nobody proved must not receive another person's.
        command: () =>
          ({ type: 'UpdateUser', data: { changes, confirmsEmail: may(actor, 'change-email', SITE) } }) as const,
        organization: () => null,
        context: contextOf(actor),
        read: () => [userById(actor.id)],
      })
      .catch(refuseTaken);
    return firstRow<UserRow>(rows);
  }
}

/** Somebody wants to be forgotten; asked by who runs the site. */
export class ForgetUser extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ForgetUser)
export class ForgetUserHandler implements ICommandHandler<ForgetUser> {
  constructor(
    private readonly store: EventStore,
    private readonly forgetting: Forgetting,
  ) {}

  execute({ id, actor }: ForgetUser): Promise<void> {
    const load = async () => {
      const found = await userToForget(this.store.database, id, fresh(actor));
      demand(actor, 'forget-user', SITE);
      return found;
    };
    const { store, forgetting } = this;
    return forgetUser({ store, forgetting }, { id, context: contextOf(actor), load });
  }
}

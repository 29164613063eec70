import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { unprocessable } from '#kernel';
import { EventStore, getFirstRow } from '#event-store';
import { NameEraser } from '#personal-data';
import { getViolatedConstraint } from '#postgres';
import { createEventContext, requirePermission, requireCurrentAccess, can, SITE_SCOPE, type Actor } from '#access';
import { user, type UserChanges } from './user.js';
import { forgetUser } from './users.forget.js';
import { selectUserById, loadUserForCommand, loadUserToForget, type UserRow } from './users.queries.js';

/** Changes the caller's own account. */
export class ChangeAccount extends Command<UserRow> {
  constructor(
    readonly changes: UserChanges,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** For `catch`: refuses the unique attribute that is already taken; rethrows other errors. */
export const refuseTaken = (error: unknown): never => {
  const broken = getViolatedConstraint(error);
  if (broken === 'users_username_key') throw unprocessable('Username has already been taken', 'username');
  if (broken === 'users_email_key') throw unprocessable('Email has already been taken', 'email');
  throw error;
};

@CommandHandler(ChangeAccount)
export class UsersHandler implements ICommandHandler<ChangeAccount> {
  constructor(private readonly store: EventStore) {}

  async execute({ changes, actor }: ChangeAccount): Promise<UserRow> {
    const { rows } = await this.store
      .handle({
        decider: user,
        load: async () => {
          const snapshot = await loadUserForCommand(this.store.database, actor, 'update-account', actor.id);
          return this.store.restore(actor.id, user, snapshot);
        },
        // Invitations go to addresses: an unproven address must not receive another person's invitation.
        command: () =>
          ({ type: 'UpdateUser', data: { changes, confirmsEmail: can(actor, 'change-email', SITE_SCOPE) } }) as const,
        organization: () => null,
        context: createEventContext(actor),
        read: () => [selectUserById(actor.id)],
      })
      .catch(refuseTaken);
    return getFirstRow<UserRow>(rows);
  }
}

/** Forgets a user, for site administrators. */
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
    private readonly forgetting: NameEraser,
  ) {}

  execute({ id, actor }: ForgetUser): Promise<void> {
    const load = async () => {
      const row = await loadUserToForget(this.store.database, id, requireCurrentAccess(actor));
      requirePermission(actor, 'forget-user', SITE_SCOPE);
      return row;
    };
    const { store, forgetting } = this;
    return forgetUser({ store, forgetting }, { id, context: createEventContext(actor), load });
  }
}

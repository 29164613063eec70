import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { unprocessable } from '#kernel';
import { brokenUnique, Database, EventStore } from '#event-store';
import { contextOf, type Actor } from './actor.js';
import { may, SITE } from './permissions.js';
import { user, type UserChanges } from './user.js';
import { userForCommand, userRowById, type UserRow } from './users.queries.js';

/** A change of the caller's own account. */
export class UpdateAccount extends Command<UserRow> {
  constructor(
    readonly changes: UserChanges,
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = (error: unknown): never => {
  const broken = brokenUnique(error);
  if (broken === 'users_username_key') throw unprocessable('Username has already been taken', 'username');
  if (broken === 'users_email_key') throw unprocessable('Email has already been taken', 'email');
  throw error;
};

@CommandHandler(UpdateAccount)
export class UsersHandler implements ICommandHandler<UpdateAccount> {
  constructor(
    private readonly store: EventStore,
    private readonly database: Database,
  ) {}

  async execute({ changes, actor }: UpdateAccount): Promise<UserRow> {
    const { rows } = await this.store
      .handle({
        decider: user,
        load: async () => {
          const { snapshot, email } = await userForCommand(this.database, actor.id, 'update-account', actor);
          if (changes.email !== undefined && changes.email !== email && !may(actor, 'change-email', SITE)) {
            throw unprocessable('Email can only be changed by a site administrator', 'email');
          }
          return this.store.restore(actor.id, user, snapshot);
        },
        command: () => ({ type: 'UpdateUser', data: { changes } }) as const,
        organization: () => null,
        context: contextOf(actor),
        read: () => [userRowById(actor.id)],
      })
      .catch(refuseTaken);
    return rows[0]?.[0] as UserRow;
  }
}

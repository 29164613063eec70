import { CommandHandler } from '@nestjs/cqrs';
import { unprocessable } from '#platform/kernel';
import { getViolatedConstraint } from '#platform/postgres';
import {
  type Actor,
  createEventContext,
  requirePermission,
  requireCurrentAccess,
  can,
  SITE_SCOPE,
  changeResource,
} from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  lockStream,
  raiseConflictWhen,
  type OperationTable,
} from '#storage/event-store';
import { NameEraser } from '#storage/personal-data';
import { type UserChanges, user } from './user.js';
import {
  type UserRow,
  selectUserById,
  loadUserForCommand,
  HAS_NO_ADMIN,
  loadUserToForget,
  loadUserToPromote,
  loadUserToSuspend,
} from './users.queries.js';
import { ADMINISTRATORS } from './changed-user.writes.js';
import { forgetUser } from './users.forget.js';
import { changeSuspension, type SuspensionRequest } from './suspend-user.operation.js';

type UserOperations = {
  /** Changes the caller's own account. */
  UpdateUser: Operation<{ changes: UserChanges; actor: Actor }, UserRow>;
  /** For site administrators: erases the person from the site. */
  ForgetUser: Operation<{ id: string; actor: Actor }, void>;
  /** For site administrators: ends the user's tokens and refuses new ones. */
  SuspendUser: Operation<{ id: string; actor: Actor }, void>;
  UnsuspendUser: Operation<{ id: string; actor: Actor }, void>;
  /** For site administrators: makes the user one of them. */
  GrantSiteAdmin: Operation<{ id: string; actor: Actor }, void>;
  RevokeSiteAdmin: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeUser<T extends keyof UserOperations> extends AggregateCommand<UserOperations, T> {}

/** For `catch`: refuses the unique attribute that is already taken; rethrows other errors. */
export const refuseTaken = (error: unknown): never => {
  const constraint = getViolatedConstraint(error);
  if (constraint === 'users_username_key') throw unprocessable('Username has already been taken', 'username');
  if (constraint === 'users_email_key') throw unprocessable('Email has already been taken', 'email');
  throw error;
};

@CommandHandler(ChangeUser)
export class UsersHandler extends AggregateHandler<UserOperations> {
  protected readonly operations: OperationTable<UserOperations> = {
    UpdateUser: (input) => this.update(input),
    ForgetUser: (input) => this.forget(input),
    SuspendUser: (input) => changeSuspension(this.store, this.prepareSuspension(input, true)),
    UnsuspendUser: (input) => changeSuspension(this.store, this.prepareSuspension(input, false)),
    GrantSiteAdmin: (input) => this.grantSiteAdmin(input),
    RevokeSiteAdmin: (input) => this.revokeSiteAdmin(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly eraser: NameEraser,
  ) {
    super();
  }

  private async update({ changes, actor }: UserOperations['UpdateUser']['input']): Promise<UserRow> {
    const rows = await changeResource(this.store, user, {
      actor,
      load: async () => {
        const snapshot = await loadUserForCommand(this.store.database, actor, 'update-account', actor.id);
        return { id: actor.id, organization: null, snapshot };
      },
      // Invitations go to addresses: an unproven address must not receive another person's invitation.
      command: { type: 'UpdateUser', data: { changes, confirmsEmail: can(actor, 'change-email', SITE_SCOPE) } },
      read: () => [selectUserById(actor.id)],
    }).catch(refuseTaken);
    return getFirstRow<UserRow>(rows);
  }

  private prepareSuspension(
    { id, actor }: UserOperations['SuspendUser']['input'],
    suspended: boolean,
  ): SuspensionRequest {
    const load = async () => {
      const account = await loadUserToSuspend(this.store.database, id, requireCurrentAccess(actor));
      requirePermission(actor, 'suspend-user', SITE_SCOPE);
      return account;
    };
    return { id, suspended, context: createEventContext(actor), load };
  }

  private async grantSiteAdmin({ id, actor }: UserOperations['GrantSiteAdmin']['input']): Promise<void> {
    await changeResource(this.store, user, {
      actor,
      load: async () => ({ id, organization: null, ...(await loadUserToPromote(this.store.database, actor, id)) }),
      command: ({ onlyInvited }) => ({ type: 'GrantSiteAdmin', data: { onlyInvited } }) as const,
    });
  }

  private async revokeSiteAdmin({ id, actor }: UserOperations['RevokeSiteAdmin']['input']): Promise<void> {
    await changeResource(this.store, user, {
      actor,
      load: async () => ({ id, organization: null, ...(await loadUserToPromote(this.store.database, actor, id)) }),
      command: ({ isLastAdmin }) => ({ type: 'RevokeSiteAdmin', data: { isLastAdmin } }) as const,
      conditions: () => [lockStream(ADMINISTRATORS)],
      read: () => [raiseConflictWhen(HAS_NO_ADMIN)],
    });
  }

  private forget({ id, actor }: UserOperations['ForgetUser']['input']): Promise<void> {
    const { store, eraser } = this;
    const load = async () => {
      const account = await loadUserToForget(store.database, id, requireCurrentAccess(actor));
      requirePermission(actor, 'forget-user', SITE_SCOPE);
      return account;
    };
    return forgetUser({ store, forgetting: eraser }, { id, context: createEventContext(actor), load });
  }
}

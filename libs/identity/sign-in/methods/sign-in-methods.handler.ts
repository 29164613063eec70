import { CommandHandler } from '@nestjs/cqrs';
import { type EventContext, type Sql, notFound, sql } from '#platform/kernel';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  decideWrite,
  EventStore,
  raiseConflictWhen,
  type OperationTable,
} from '#storage/event-store';
import { loadPersonWithSessions, prepareSessionEnds } from '#identity/people';
import { deleteAllMethods } from './secrets.view.js';
import { type SignInMethodsCommand, type SignInPerson, signInMethods, toMethodsStream } from './sign-in-methods.js';

export type MethodsChange = {
  readonly user: string;
  /** Returns the command for the person, whose name and organizations the events contain. */
  readonly command: (person: SignInPerson) => SignInMethodsCommand;
  readonly createContext: (person: { readonly id: string; readonly username: string }) => EventContext;
  /** Statements that change secrets. They run in the transaction of the events. */
  readonly secrets?: readonly Sql[];
  /** Whether a suspended person counts as unknown. Default: false. */
  readonly refusesSuspended?: boolean;
  /** Throws if the person who requests the change of another person's methods may not do so. It runs for every retry. */
  readonly authorize?: () => Promise<void>;
};

type SignInMethodsOperations = {
  /** Records a sign-in, a failure, or a name. No session ends. */
  RecordSignIn: Operation<MethodsChange, void>;
  /** Changes the methods. All sessions of the person end except one. */
  ChangeFactors: Operation<MethodsChange & { exceptSession: string | null }, void>;
};

export class ChangeSignInMethods<T extends keyof SignInMethodsOperations> extends AggregateCommand<
  SignInMethodsOperations,
  T
> {}

/** Returns the command that removes every sign-in method of a user, and ends all sessions. */
export const createMethodsReset = (
  user: string,
  createContext: MethodsChange['createContext'],
): ChangeSignInMethods<'ChangeFactors'> =>
  new ChangeSignInMethods('ChangeFactors', {
    user,
    exceptSession: null,
    command: (person) => ({ type: 'ResetSignInMethods', data: person }),
    createContext,
    secrets: deleteAllMethods(user),
  });

/** Fails an append if the person was suspended in between. */
const refuseSuspended = (user: string): Sql =>
  raiseConflictWhen(sql`exists (select 1 from users where id = ${user} and suspended)`);

@CommandHandler(ChangeSignInMethods)
export class SignInMethodsHandler extends AggregateHandler<SignInMethodsOperations> {
  protected readonly operations: OperationTable<SignInMethodsOperations> = {
    RecordSignIn: (change) => this.change(change, sql`false`),
    ChangeFactors: ({ exceptSession, ...change }) =>
      this.change(change, exceptSession === null ? sql`true` : sql`session.id <> ${exceptSession}`),
  };

  constructor(private readonly store: EventStore) {
    super();
  }

  /** `ended`: a condition for the sessions that end in the same append. */
  private change(
    { user, command, createContext, secrets = [], refusesSuspended = false, authorize }: MethodsChange,
    ended: Sql,
  ): Promise<void> {
    const { store } = this;
    return store.retryOnConflict(async () => {
      await authorize?.();
      const check = refusesSuspended ? sql`not u.suspended` : sql`true`;
      const person = await loadPersonWithSessions(store.database, sql`${user}`, ended, check);
      if (!person) throw notFound('There is no such account');
      const { username, organizations } = person;
      const loaded = await store.load(toMethodsStream(user), signInMethods);
      const write = decideWrite(signInMethods, loaded, null, command({ user, username, organizations }));
      const conditions = refusesSuspended ? [refuseSuspended(user)] : [];
      const ends = await prepareSessionEnds(store, person, 'factors-changed');
      await store.append(
        [...ends, ...(write.events.length > 0 ? [write] : [])],
        createContext(person),
        secrets,
        conditions,
      );
    });
  }
}

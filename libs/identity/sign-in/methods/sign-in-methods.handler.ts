import { CommandHandler } from '@nestjs/cqrs';
import { notFound, sql, type Sql } from '#platform/kernel';
import {
  AggregateHandler,
  decideWrite,
  EventStore,
  raiseConflictWhen,
  type OperationTable,
} from '#storage/event-store';
import { loadPersonWithSessions, prepareSessionEnds } from '#identity/people';
import { ChangeSignInMethods, type MethodsChange, type SignInMethodsOperations } from './sign-in-methods.commands.js';
import { signInMethods, toMethodsStream } from './sign-in-methods.js';

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
    { user, command, createContext, secrets = [], refusesSuspended = false }: MethodsChange,
    ended: Sql,
  ): Promise<void> {
    const { store } = this;
    return store.retryOnConflict(async () => {
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

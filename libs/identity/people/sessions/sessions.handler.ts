import { CommandHandler } from '@nestjs/cqrs';
import { type Actor, createEventContext } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  type OperationTable,
} from '#storage/event-store';
import { loadSessionsToEnd } from './sessions.view.js';
import { prepareSessionEnds } from './sessions.writes.js';

type SessionOperations = {
  /** Ends one session. */
  EndSession: Operation<{ id: string; actor: Actor }, void>;
  /** Ends all sessions of a person, or all except one. */
  EndSessions: Operation<{ user: string; except: string | null; actor: Actor }, void>;
};

export class ChangeSession<T extends keyof SessionOperations> extends AggregateCommand<SessionOperations, T> {}

@CommandHandler(ChangeSession)
export class SessionsHandler extends AggregateHandler<SessionOperations> {
  protected readonly operations: OperationTable<SessionOperations> = {
    EndSession: ({ id, actor }) => this.end({ session: id }, actor),
    EndSessions: ({ user, except, actor }) => this.end({ user, except }, actor),
  };

  constructor(private readonly store: EventStore) {
    super();
  }

  private end(target: Parameters<typeof loadSessionsToEnd>[2], actor: Actor): Promise<void> {
    const { store } = this;
    return store.retryOnConflict(async () => {
      const person = await loadSessionsToEnd(store.database, actor, target);
      if (person.sessions.length === 0) return;
      await store.append(await prepareSessionEnds(store, person, 'revoked'), createEventContext(actor));
    });
  }
}

import { CommandHandler } from '@nestjs/cqrs';
import { AggregateHandler, EventStore, type OperationTable } from '#storage/event-store';
import { createEventContext, type Actor } from '#api/access';
import { ChangeSession, type SessionOperations } from './sessions.commands.js';
import { loadSessionsToEnd } from './sessions.queries.js';
import { prepareSessionEnds } from './sessions.writes.js';

@CommandHandler(ChangeSession)
export class SessionsHandler extends AggregateHandler<SessionOperations> {
  protected readonly operations: OperationTable<SessionOperations> = {
    EndSession: ({ id, actor }) => this.end({ session: id }, actor),
    EndSessions: ({ user, actor }) => this.end({ user }, actor),
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

import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';

export type SessionOperations = {
  /** Ends one session. */
  EndSession: Operation<{ id: string; actor: Actor }, void>;
  /** Ends all sessions of a person. */
  EndSessions: Operation<{ user: string; actor: Actor }, void>;
};

export class ChangeSession<T extends keyof SessionOperations> extends AggregateCommand<SessionOperations, T> {}

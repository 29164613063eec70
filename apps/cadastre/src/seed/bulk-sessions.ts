import type { Ids } from '#platform/kernel';
import { appendInBulk, type BulkWrite, type EventStore } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';

/** Connections that append in bulk. Each runs one transaction at a time, in the order of the calls. */
export class BulkSessions {
  private readonly tails: Promise<void>[];

  private constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly sessions: readonly DatabaseSession[],
  ) {
    this.tails = sessions.map(() => Promise.resolve());
  }

  static async open(store: EventStore, ids: Ids, connections: number): Promise<BulkSessions> {
    const sessions = await Promise.all(Array.from({ length: connections }, () => store.database.session()));
    const { writerRegistration } = store.database;
    if (writerRegistration) for (const session of sessions) await session.run(writerRegistration);
    return new BulkSessions(store, ids, sessions);
  }

  /**
   * Resolves when the earlier append on the same connection has ended and this one has started. The same number gets
   * the same connection, so that later events of a stream follow earlier ones.
   */
  async append(number: number, writes: readonly BulkWrite[]): Promise<void> {
    const index = number % this.sessions.length;
    await this.tails[index];
    const appended = appendInBulk(this.store, this.sessions[index] as DatabaseSession, this.ids, writes);
    // The next append or `settle` reports the error.
    appended.catch(() => undefined);
    this.tails[index] = appended;
  }

  /** Resolves when all appends have ended. */
  async settle(): Promise<void> {
    await Promise.all(this.tails);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.tails);
    await Promise.all(this.sessions.map((session) => session.close()));
  }
}

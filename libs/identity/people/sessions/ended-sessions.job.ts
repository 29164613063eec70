import { sql, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import type { SessionEndReason } from './session.js';
import { endSessions } from './sessions.writes.js';

const EVERY_MS = 300_000;
const MAX_SESSIONS_PER_STEP = 100;
const MINUTE_MS = 60_000;

type OverdueSession = { readonly id: string; readonly user: string; readonly isExpired: boolean };

type EndedSessionsOptions = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly idleMinutes: number;
};

/**
 * Ends sessions that were not used for too long, and those that have reached their absolute end. The server refuses them
 * already; the job removes them from lists, and the audit trail records the end.
 */
export const createEndedSessionsJob = (options: EndedSessionsOptions): ScheduledJob => ({
  name: 'ended_sessions',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    while (!signal.aborted) {
      const ended = await endOverdueSessions(options);
      if (ended === 0) return;
      done(ended);
    }
  },
});

/** Returns how many sessions it ended; 0 if none is overdue. */
const endOverdueSessions = async ({ store, clock, ids, idleMinutes }: EndedSessionsOptions): Promise<number> => {
  const now = clock.now();
  const overdue = await store.database.rows<OverdueSession>(sql`
    select session.id, session.user_id as "user", session.expired_at <= ${now} as "isExpired"
      from sessions session left join access.token_uses uses on uses.token = session.id
     where session.expired_at <= ${now}
        or coalesce(uses.used_at, session.created_at) <= ${new Date(now.getTime() - idleMinutes * MINUTE_MS)}
     order by session.id limit ${MAX_SESSIONS_PER_STEP}`);
  let ended = 0;
  for (const { id, user, isExpired } of overdue) {
    const reason: SessionEndReason = isExpired ? 'expired' : 'idle';
    const context = createSystemContext('sessions', ids.uuid());
    ended += await endSessions(store, { user, where: sql`session.id = ${id}`, reason }, context);
  }
  return ended;
};

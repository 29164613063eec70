import { sql, type Projection } from '#platform/kernel';
import type { SessionEvent } from './session.js';

/** The sessions that have not ended. Some may be idle or expired; a scheduled job ends them. */
export const sessions: Projection<SessionEvent> = {
  name: 'sessions',
  version: 2,
  tables: ['sessions'],
  on: {
    SessionStarted: (started, { stream, time, context: { request } }) => sql`
      insert into sessions (id, user_id, method, provider, provider_session, assurance, address, user_agent, created_at,
                            expired_at, authenticated_at)
      values (${stream}, ${started.user}, ${started.method}, ${started.provider}, ${started.providerSession},
              ${started.assurance}, ${request.address}, ${request.userAgent}, ${time}, ${started.expiredAt},
              ${started.authenticatedAt})`,
    SessionEnded: (_, { stream }) => sql`delete from sessions where id = ${stream}`,
  },
};

import type { Actor } from '#api/access';
import { toOne, type Resource } from '#api/json-api';
import type { SessionRow } from './sessions.view.js';

export const renderSession = (session: SessionRow, actor: Actor): Resource => ({
  id: session.id,
  type: 'sessions',
  attributes: {
    'created-at': session.createdAt,
    'last-used-at': session.lastUsedAt,
    'expired-at': session.expiredAt,
    method: session.method,
    assurance: session.assurance,
    address: session.address,
    'user-agent': session.userAgent,
    current: session.id === actor.token,
  },
  relationships: { user: toOne('users', session.user, `/api/v2/users/${session.user}`) },
});

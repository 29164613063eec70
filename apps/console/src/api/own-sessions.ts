import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type Session = ApiResource<'Session'>;

const SESSIONS_KEY = ['own-sessions'] as const;

/** The browsers in which a user is signed in, the last sign-in first. */
export const sessionsQuery = (user: string) =>
  pagedQuery([...SESSIONS_KEY, user], (query, signal) =>
    readDocument(api.GET('/api/v2/users/{id}/sessions', { params: { path: { id: user }, query }, signal })),
  );

export const useEndSession = () =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/sessions/{id}', { params: { path: { id } } })),
    rereads: SESSIONS_KEY,
  });

/** Ends all sessions of a user, except the one of this browser. */
export const useEndOtherSessions = (user: string) =>
  useChange({
    mutationFn: () => {
      const params = { path: { id: user }, query: { except: 'current' as const } };
      return requireSuccess(api.DELETE('/api/v2/users/{id}/sessions', { params }));
    },
    rereads: SESSIONS_KEY,
  });

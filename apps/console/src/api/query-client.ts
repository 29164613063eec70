import { QueryClient } from '@tanstack/react-query';
import { showToast } from '../toasts.js';
import { ApiError, ConnectionError } from './api-error.js';

const MAX_RETRIES = 4;
/** The server is not reachable, or a proxy closed the connection. */
const MAX_NETWORK_RETRIES = 1;
const FRESH_MS = 15_000;
const LONGEST_DELAY_MS = 20_000;

const canRetry = (failures: number, error: Error): boolean => {
  if (error instanceof ApiError) return error.isTemporary && failures < MAX_RETRIES;
  return error instanceof ConnectionError && failures < MAX_NETWORK_RETRIES;
};

/** The server chooses the delay with `Retry-After`. The person learns why nothing happens meanwhile. */
const startRetryDelay = (failures: number, error: Error): number => {
  const requested = error instanceof ApiError ? error.retryAfterMs : null;
  const delay = Math.min(requested ?? 500 * 2 ** failures, LONGEST_DELAY_MS);
  const seconds = Math.ceil(delay / 1_000);
  if (requested && canRetry(failures, error)) {
    const message = `The server has asked to wait ${seconds} s. The console then sends the request again.`;
    showToast({ kind: 'notice', message });
  }
  return delay;
};

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: canRetry,
      retryDelay: startRetryDelay,
      staleTime: FRESH_MS,
      // Without a network a request fails at once, so that the screen can describe it.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    // A refused change has changed nothing, so it can be sent again. Without an answer, it may have changed something.
    mutations: {
      // Without a network a change fails at once. It must not be sent when the person has forgotten it.
      networkMode: 'always',
      retry: (failures, error) => error instanceof ApiError && canRetry(failures, error),
      retryDelay: startRetryDelay,
    },
  },
});

declare module '@tanstack/react-query' {
  interface Register {
    readonly queryMeta: {
      /** The server records each read in the audit trail, so only live messages about these types cause another one. */
      readonly readAgainFor?: readonly string[];
    };
  }
}

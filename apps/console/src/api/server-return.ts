import { useEffect } from 'react';
import { ApiError, ConnectionError } from './api-error.js';

/* Screens that could not be read because the server was away are read again when it is back. */

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** The server is back, but cannot answer requests, if they fail again within this time. The pauses then grow further. */
const STEADY_MS = 60_000;
const SERVER_ERROR = 500;

const watch = {
  waiting: new Set<() => void>(),
  timer: undefined as number | undefined,
  pauseMs: FIRST_PAUSE_MS,
  returnedAt: 0,
};

const isAnswering = async (): Promise<boolean> => {
  const response = await fetch('/api/v2/ping', { cache: 'no-store' }).catch(() => null);
  return response !== null && response.status < SERVER_ERROR;
};

const check = async (): Promise<void> => {
  watch.timer = undefined;
  // A tab in the background causes no requests.
  const isBack = document.visibilityState === 'visible' && (await isAnswering());
  if (watch.waiting.size === 0) return;
  if (!isBack) return schedule();
  watch.returnedAt = Date.now();
  for (const run of watch.waiting) run();
};

const schedule = (): void => {
  if (watch.timer !== undefined) return;
  watch.timer = window.setTimeout(() => void check(), watch.pauseMs);
  watch.pauseMs = Math.min(watch.pauseMs * 2, LONGEST_PAUSE_MS);
};

const waitForServer = (onReturn: () => void): (() => void) => {
  if (watch.waiting.size === 0 && Date.now() - watch.returnedAt > STEADY_MS) watch.pauseMs = FIRST_PAUSE_MS;
  watch.waiting.add(onReturn);
  schedule();
  return () => void watch.waiting.delete(onReturn);
};

/** Returns whether the server did not answer, or could not. */
const isOutage = (error: Error): boolean =>
  error instanceof ConnectionError || (error instanceof ApiError && error.status >= SERVER_ERROR);

/** Calls `onReturn` when a server that was away answers again. */
export const useServerReturn = (error: Error, onReturn: () => void): void =>
  useEffect(() => (isOutage(error) ? waitForServer(onReturn) : undefined), [error, onReturn]);

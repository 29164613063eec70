import type { Phase } from './api/executor-api.js';

export const DEFAULT_GRACE_SECONDS = 60;

/** How long terraform can take to end after a SIGINT. An apply waits for the resources that it is changing. */
export const INTERRUPT_MS: Readonly<Record<Phase, number>> = { plan: 10_000, apply: 600_000 };

/** A server that starts again within this time still gets the state of an apply. Later, the next executor sends it. */
const STORE_MS = 30_000;

/** Returns how long the executor can take to end after the request to stop: its grace time, an interrupted apply, and uploads. */
export const getLongestStopMs = (environment: Readonly<Record<string, string | undefined>>): number => {
  const graceSeconds = Number(environment['CADASTRE_EXECUTOR_GRACE'] ?? DEFAULT_GRACE_SECONDS);
  return graceSeconds * 1_000 + INTERRUPT_MS.apply + STORE_MS;
};

import type { Settings } from './settings.js';

const LEAST_UNANSWERED = 16;
/** With one connection, slow reads of one caller would delay those of all others. */
const LEAST_SLOW_CONNECTIONS = 2;
const MIB = 1_024 * 1_024;

/**
 * Returns the settings of one of several workers. Limits of what a machine has (connections, memory, requests at work)
 * are divided, so that all workers together keep them. Rate limits stay: a client with one connection reaches only one
 * worker.
 */
export const toWorkerSettings = (settings: Settings): Settings => {
  const { workers, http, slowReadsPerCaller } = settings;
  const divide = (limit: number, least = 1): number => Math.max(least, Math.ceil(limit / workers));
  // One request with the largest states, as for the undivided limits.
  const leastMemory = 3 * settings.inlineStateLimit + MIB;
  const slowConnections = divide(settings.slowConnections, LEAST_SLOW_CONNECTIONS);
  return {
    ...settings,
    slowConnections,
    slowReadsPerCaller: Math.min(slowReadsPerCaller, slowConnections - 1),
    http: {
      ...http,
      connections: divide(http.connections),
      connectionsPerAddress: divide(http.connectionsPerAddress),
      bodyMemory: {
        total: divide(http.bodyMemory.total, leastMemory),
        perCaller: divide(http.bodyMemory.perCaller, leastMemory),
      },
      unanswered: http.unanswered && { ...http.unanswered, max: divide(http.unanswered.max, LEAST_UNANSWERED) },
    },
  };
};

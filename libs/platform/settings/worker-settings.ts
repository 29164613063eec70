import type { Settings } from './settings.js';

const LEAST_UNANSWERED = 16;
/** With one connection, slow reads of one caller would delay those of all others. */
const LEAST_SLOW_CONNECTIONS = 2;
/** go-tfe fails on every request if the limit is lower. */
const LEAST_RATE = 4;
const MIB = 1_024 * 1_024;

/** Connections to Postgres of a worker, without those for slow reads: of `Database`, of the read barrier, and of the reader for streams. */
const WORKER_CONNECTIONS = 13;
/** Those that do not use a connection pooler: of the process itself, of the read barrier, and of the reader for streams. */
const DIRECT_WORKER_CONNECTIONS = 3;
/** Connections of the first process: its followers, scheduled jobs and publisher, and commands that run beside it. */
const PRIMARY_CONNECTIONS = 30;

/**
 * Returns the settings of one of several workers. Each limit is divided, so that all workers together keep it: a caller
 * with several connections reaches all workers.
 */
export const toWorkerSettings = (settings: Settings): Settings => {
  const { workers, http, limits, liveStreams, documentCacheBytes, slowReadsPerCaller } = settings;
  const divide = (limit: number, least = 1): number => Math.max(least, Math.ceil(limit / workers));
  const divideOrNull = (limit: number | null, least = 1): number | null => limit && divide(limit, least);
  // One request with the largest states, as for the undivided limits.
  const leastMemory = 3 * settings.inlineStateLimit + MIB;
  const slowConnections = divide(settings.slowConnections, LEAST_SLOW_CONNECTIONS);
  return {
    ...settings,
    slowConnections,
    slowReadsPerCaller: Math.min(slowReadsPerCaller, slowConnections - 1),
    liveStreams: { total: divide(liveStreams.total), perCaller: divide(liveStreams.perCaller) },
    documentCacheBytes: divideOrNull(documentCacheBytes),
    limits: {
      // General settings of the site can replace it, so it is divided where it is used.
      perToken: limits.perToken,
      workers,
      perAddress: divideOrNull(limits.perAddress, LEAST_RATE),
      wrongTokens: divideOrNull(limits.wrongTokens),
      accessChanges: divideOrNull(limits.accessChanges),
    },
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

const countConnections = (settings: Settings): number => {
  const { database, workers } = settings;
  const ofWorker =
    database.mode === 'url' && database.poolerUrl !== null
      ? DIRECT_WORKER_CONNECTIONS
      : WORKER_CONNECTIONS + toWorkerSettings(settings).slowConnections;
  return PRIMARY_CONNECTIONS + workers * ofWorker;
};

/** Returns an error message if Postgres accepts fewer connections than the workers need, else null. */
export const describeMissingConnections = (settings: Settings, maxConnections: number): string | null => {
  const needed = countConnections(settings);
  if (needed <= maxConnections) return null;
  let { workers } = settings;
  while (workers > 1 && countConnections({ ...settings, workers }) > maxConnections) workers -= 1;
  return (
    `CADASTRE_WORKERS: ${settings.workers} workers need up to ${needed} connections, but Postgres accepts ` +
    `${maxConnections}; set at most ${workers}, or use a Postgres (DATABASE_URL) with a larger max_connections`
  );
};

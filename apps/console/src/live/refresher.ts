import type { QueryClient } from '@tanstack/react-query';
import { isConcerned, mayReadAgain, type ChangeBatch } from './concerned-queries.js';

const PAUSE_MS = 1_000;
/** A request that takes longer does not delay the next refresh. */
const LONGEST_READ_MS = 10_000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

const NOTHING: ChangeBatch = { types: new Set(), hasReset: false, hasNewAccess: false };

const merge = (one: ChangeBatch, other: ChangeBatch): ChangeBatch => ({
  types: new Set([...one.types, ...other.types]),
  hasReset: one.hasReset || other.hasReset,
  hasNewAccess: one.hasNewAccess || other.hasNewAccess,
});

/** Returns whether a query was reading for the first time, so that its answer can be older than the change. */
const refresh = async (queries: QueryClient, organization: string, batch: ChangeBatch): Promise<boolean> => {
  const concerned = queries.getQueryCache().findAll({ predicate: (query) => isConcerned(organization, query, batch) });
  const keys = new Set(concerned.map(({ queryHash }) => queryHash));
  const isFirstRead = concerned.some(
    ({ state }) => state.fetchStatus === 'fetching' && state.data === undefined && state.status === 'pending',
  );
  void queries.invalidateQueries({ predicate: ({ queryHash }) => keys.has(queryHash), refetchType: 'none' });
  const read = queries.refetchQueries({
    type: 'active',
    predicate: (query) => keys.has(query.queryHash) && mayReadAgain(query, batch),
  });
  await Promise.race([read, wait(LONGEST_READ_MS)]);
  return isFirstRead;
};

export type Refresher = { readonly add: (batch: ChangeBatch) => void; readonly stop: () => void };

/**
 * Reads what messages concern again: at once after the first message, then at most once a second, and never before the previous
 * refresh has ended. Any number of messages costs the same.
 */
export const createRefresher = (queries: QueryClient, organization: string): Refresher => {
  const state = { pending: null as ChangeBatch | null, isBusy: false, isStopped: false };
  const run = async (): Promise<void> => {
    state.isBusy = true;
    while (state.pending !== null && !state.isStopped) {
      const batch = state.pending;
      state.pending = null;
      const [isFirstRead] = await Promise.all([refresh(queries, organization, batch), wait(PAUSE_MS)]);
      if (isFirstRead) state.pending = merge(state.pending ?? NOTHING, batch);
    }
    state.isBusy = false;
  };
  return {
    add: (batch) => {
      state.pending = merge(state.pending ?? NOTHING, batch);
      if (!state.isBusy && !state.isStopped) void run();
    },
    stop: () => void (state.isStopped = true),
  };
};

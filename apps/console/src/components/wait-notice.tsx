import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { ApiError } from '../api/api-error.js';
import { getRetryDelay } from '../api/query-client.js';
import { AlertIcon } from './icons.js';
import classes from './toast-outlet.module.css';

const isTemporary = (error: Error | null): error is ApiError => error instanceof ApiError && error.isTemporary;

/** Returns for how many seconds the console waits before it sends a refused request again. 0: no request waits. */
const findWait = (queries: QueryClient): number => {
  const reads = queries
    .getQueryCache()
    .findAll({ fetchStatus: 'fetching' })
    .map(({ state }) => ({ failures: state.fetchFailureCount, error: state.fetchFailureReason }));
  const changes = queries
    .getMutationCache()
    .findAll({ status: 'pending' })
    .map(({ state }) => ({ failures: state.failureCount, error: state.failureReason }));
  const delays = [...reads, ...changes].map(({ failures, error }) =>
    isTemporary(error) ? getRetryDelay(failures - 1, error) : 0,
  );
  return Math.ceil(Math.max(0, ...delays) / 1_000);
};

/** Describes why nothing happens while the server has asked to wait. */
export const WaitNotice = () => {
  const queries = useQueryClient();
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = [queries.getQueryCache().subscribe(listener), queries.getMutationCache().subscribe(listener)];
      return () => stops.forEach((stop) => stop());
    },
    [queries],
  );
  const seconds = useSyncExternalStore(subscribe, () => findWait(queries));
  if (seconds === 0) return null;
  return (
    <div className={classes['toast']}>
      <AlertIcon size={18} className={classes['icon']} />
      <span className={classes['text']}>
        The server has asked to wait {seconds} second{seconds === 1 ? '' : 's'}. The console then sends the request
        again.
      </span>
    </div>
  );
};

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { newEntriesQuery, type AuditTrailRow, type AuditTrailFilter, type TrailOwner } from '../../api/audit-trail.js';
import { useLiveState } from '../../live/live-state.js';

const POLL_MS = 4_000;
/** The live stream has no messages about reads and tokens, so their entries arrive later than those of changes. */
const LIVE_POLL_MS = 30_000;

export type LiveTail = {
  /** New entries in the list, newest first. */
  readonly entries: readonly AuditTrailRow[];
  /** The number of new entries that wait until the person wants to see them. */
  readonly waiting: number;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly show: () => void;
  /** The number of times that the person let them in. */
  readonly shows: number;
};

type TailOptions = {
  readonly organization: TrailOwner;
  readonly filter: AuditTrailFilter;
  /** The id of the newest entry in the list; empty for a list without entries; null for no tail. */
  readonly after: string | null;
  /** Whether new entries enter the list at once. Otherwise they wait, and later entries wait with them. */
  readonly isOpen: boolean;
};

const NONE: readonly AuditTrailRow[] = [];

type TailRange = {
  readonly list: string;
  /** The number of new entries in the list. */
  readonly count: number;
  /** The number of new entries that have arrived. */
  readonly arrived: number;
};

/** Returns the range with the entries that have arrived. Those that may not enter the list yet wait. */
const moveRange = (range: TailRange, list: string, arrived: number, isOpen: boolean): TailRange => {
  const { count, arrived: before } = range.list === list ? range : { count: 0, arrived: 0 };
  const isAnyWaiting = before > count;
  return { list, count: isOpen && !isAnyWaiting ? arrived : Math.min(count, arrived), arrived };
};

/** Follows the trail. */
export const useLiveTail = ({ organization, filter, after, isOpen }: TailOptions): LiveTail => {
  const pollMs = useLiveState() === 'live' ? LIVE_POLL_MS : POLL_MS;
  const query = useQuery({
    ...newEntriesQuery(organization, filter, after ?? ''),
    enabled: after !== null,
    refetchInterval: ({ state }) => (state.status === 'error' ? false : pollMs),
  });
  const all = (after === null ? undefined : query.data?.entries) ?? NONE;
  const list = JSON.stringify([organization, filter, after]);
  const [range, setRange] = useState<TailRange>({ list, count: 0, arrived: 0 });
  const [shows, setShows] = useState(0);
  const next = moveRange(range, list, all.length, isOpen);
  if (JSON.stringify(next) !== JSON.stringify(range)) setRange(next);
  return {
    entries: all.slice(all.length - next.count),
    waiting: all.length - next.count,
    error: query.error,
    retry: () => void query.refetch(),
    show: () => {
      setRange({ list, count: all.length, arrived: all.length });
      setShows(shows + 1);
    },
    shows,
  };
};

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { newEntriesQuery, type AuditTrailRow, type AuditTrailFilter } from '../../api/audit-trail.js';

export type LiveTail = {
  /** New entries in the list, newest first. */
  readonly entries: readonly AuditTrailRow[];
  /** The number of new entries that wait until the person wants to see them. */
  readonly waiting: number;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly show: () => void;
};

type TailOptions = {
  readonly organization: string;
  readonly filter: AuditTrailFilter;
  /** The id of the newest entry in the list; empty for a list without entries; null for no tail. */
  readonly after: string | null;
  /** Whether new entries enter the list at once. If the person reads further down, they wait. */
  readonly isAtTop: boolean;
};

const NONE: readonly AuditTrailRow[] = [];

/** Follows the trail. */
export const useLiveTail = ({ organization, filter, after, isAtTop }: TailOptions): LiveTail => {
  const query = useQuery({ ...newEntriesQuery(organization, filter, after ?? ''), enabled: after !== null });
  const all = (after === null ? undefined : query.data?.entries) ?? NONE;
  const list = JSON.stringify([organization, filter, after]);
  const [range, setRange] = useState({ list, count: 0 });
  const count = isAtTop ? all.length : range.list === list ? Math.min(range.count, all.length) : 0;
  if (range.list !== list || range.count !== count) setRange({ list, count });
  return {
    entries: all.slice(all.length - count),
    waiting: all.length - count,
    error: query.error,
    retry: () => void query.refetch(),
    show: () => setRange({ list, count: all.length }),
  };
};

import { useDebouncedCallback } from '@mantine/hooks';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import {
  ENTRIES_IN_PAGE,
  newestEntriesQuery,
  olderEntriesQuery,
  type AuditTrailRow,
  type AuditTrailFilter,
  type TrailOwner,
} from '../../api/audit-trail.js';
import { useResourceNames, type NamesById } from '../../api/resource-names.js';
import { useLiveTail, type LiveTail } from './live-tail.js';

/** Pages that the person only scrolls past are not requested. */
const SETTLED_MS = 80;

type RowRange = { readonly first: number; readonly last: number };

const toPage = (index: number): number => Math.floor(index / ENTRIES_IN_PAGE) + 1;

/** Returns the numbers of the pages in the window, except the first page, which is loaded anyway. */
const listOlderPages = ({ first, last }: RowRange): readonly number[] => {
  const [from, to] = [toPage(first), toPage(last)];
  return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((page) => page > 1);
};

export type TrailList = {
  /** Undefined until the first page is loaded. */
  readonly total: number | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly getRow: (index: number) => AuditTrailRow | undefined;
  readonly onRange: (first: number, last: number) => void;
  readonly tail: LiveTail;
  /** Names of resources and actors of the loaded entries. */
  readonly names: NamesById;
};

/** The fields of an entry that name its resource: a variable has a key, a run a message, and a membership a person. */
const NAME_FIELDS = ['name', 'key', 'message', 'user'];

/** Returns the name of the resource, if the entry has it. Entries about lists have the id of their owner. */
const findEntryName = ({ resource: { action, meta } }: AuditTrailRow): string | undefined => {
  if (action === 'index' || meta === null) return undefined;
  return NAME_FIELDS.map((field) => meta[field]).find((name) => typeof name === 'string' && name !== '') as
    string | undefined;
};

/** Actors are named by the entries themselves, and so are many resources, also deleted ones. */
const useEntryNames = (organization: TrailOwner, groups: readonly (readonly AuditTrailRow[])[]): NamesById => {
  const ids = groups.map((group) => group.map(({ resource }) => resource.id));
  // The API has no names of resources of the site.
  const resources = useResourceNames(organization ?? '', organization === null ? [] : ids);
  const entries = groups.flat();
  const actors = entries.map(({ auth }) => [auth.accessor_id, auth.description] as const);
  const own = entries.map(({ auth }) => [auth.organization_id, organization ?? auth.organization_id] as const);
  // The newest name of a resource is the last one here.
  const entryNames = entries.toReversed().flatMap((entry) => {
    const name = findEntryName(entry);
    return name === undefined ? [] : [[entry.resource.id, name] as const];
  });
  return new Map([...own, ...entryNames, ...actors, ...resources]);
};

/** Returns the loaded pages by their number. The first page has the entry `anchor` at its top. */
const useOlderPages = (
  organization: TrailOwner,
  filter: AuditTrailFilter,
  first: readonly AuditTrailRow[],
  range: RowRange,
) => {
  const [anchor] = first;
  const numbers = anchor ? listOlderPages(range) : [];
  const results = useQueries({
    queries: numbers.map((page) => olderEntriesQuery(organization, filter, anchor?.timestamp ?? '', page)),
  });
  const loaded = results.flatMap(({ data }, position) => (data ? [[numbers[position] ?? 0, data.data] as const] : []));
  return { results, pages: new Map([[1, first] as const, ...loaded]) };
};

type TrailListOptions = {
  readonly organization: TrailOwner;
  readonly filter: AuditTrailFilter;
  /** Whether the list follows the trail. */
  readonly isLive: boolean;
  /** Whether a person reads or points at the rows, so that they must not move. */
  readonly isInUse: boolean;
};

/** Loads the pages in the window, and the entries that are new. */
export const useTrailList = ({ organization, filter, isLive, isInUse }: TrailListOptions): TrailList => {
  const [range, setRange] = useState<RowRange>({ first: 0, last: 0 });
  const newest = useQuery(newestEntriesQuery(organization, filter));
  const first = newest.data?.data ?? [];
  const after = isLive && newest.data ? (first[0]?.id ?? '') : null;
  // Without rows, nothing can move.
  const isStill = isInUse && first.length > 0;
  const tail = useLiveTail({ organization, filter, after, isOpen: range.first === 0 && !isStill });
  const added = tail.entries.length;
  const inPages = { first: Math.max(range.first - added, 0), last: Math.max(range.last - added, 0) };
  const { results, pages } = useOlderPages(organization, filter, first, inPages);
  const names = useEntryNames(organization, [tail.entries, ...pages.values()]);
  const settle = useDebouncedCallback(setRange, SETTLED_MS);
  const onRange = useCallback((from: number, to: number) => settle({ first: from, last: to }), [settle]);
  const failed = [newest, ...results].filter(({ error }) => error !== null);
  return {
    total: newest.data && newest.data.pagination.total_count + added,
    error: failed[0]?.error ?? null,
    retry: () => failed.forEach((each) => void each.refetch()),
    getRow: (index) =>
      index < added ? tail.entries[index] : pages.get(toPage(index - added))?.[(index - added) % ENTRIES_IN_PAGE],
    onRange,
    tail,
    names,
  };
};

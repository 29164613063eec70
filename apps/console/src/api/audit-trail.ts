import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';

export type AuditTrailRow = ApiResource<'AuditTrailEntry'>;
export type TrailEntryDetails = ApiResource<'AuditTrailEntryDetails'>;
type AuditTrailPage = ApiResource<'AuditTrailPage'>;

/** The number of entries in a page of the list. */
export const ENTRIES_IN_PAGE = 100;
/** More entries than these wait for the next request. */
const MAX_NEW_ENTRIES = 1_000;

/** The part of a key after the one of the trail, for entries that are added while the person looks. */
export const NEW_ENTRIES = 'new';

/** Filters of the trail. The names are those in the address of the screen. */
export type AuditTrailFilter = {
  /** Times are ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  readonly type?: readonly string[];
  readonly action?: readonly string[];
  /** Ids or names. */
  readonly actor?: readonly string[];
  /** Ids. */
  readonly resource?: readonly string[];
};

/** The owner of a trail: the name of an organization, or null for the site. */
export type TrailOwner = string | null;

/** The beginning of the keys of all that belongs to a trail. */
export const trailKey = (organization: TrailOwner) =>
  [...(organization === null ? (['site'] as const) : organizationKey(organization)), 'audit-trail'] as const;

const toParameters = ({ since, until, type, action, actor, resource }: AuditTrailFilter) => ({
  ...(since ? { since } : {}),
  ...(until ? { until } : {}),
  ...(type?.length ? { 'filter[resource-type]': [...type] } : {}),
  ...(action?.length ? { 'filter[action]': [...action] } : {}),
  ...(actor?.length ? { 'filter[actor]': [...actor] } : {}),
  ...(resource?.length ? { 'filter[resource-id]': [...resource] } : {}),
});

const PATH = '/api/v2/organizations/{organization}/audit-trail';
const SITE_PATH = '/api/v2/admin/audit-trail';

type TrailParameters = ReturnType<typeof toParameters> & {
  readonly after?: string;
  readonly 'page[number]'?: number;
  readonly 'page[size]': number;
};

const readPage = async (
  organization: TrailOwner,
  query: TrailParameters,
  signal: AbortSignal,
): Promise<AuditTrailPage> => {
  const answer = await (organization === null
    ? readDocument(api.GET(SITE_PATH, { params: { query }, signal }))
    : readDocument(api.GET(PATH, { params: { path: { organization }, query }, signal })));
  return answer as AuditTrailPage;
};

/** The newest entries at the time when the list is opened, with the number of all. */
export const newestEntriesQuery = (organization: TrailOwner, filter: AuditTrailFilter) =>
  queryOptions({
    queryKey: [...trailKey(organization), 'newest', filter],
    queryFn: ({ signal }) => readPage(organization, { ...toParameters(filter), 'page[size]': ENTRIES_IN_PAGE }, signal),
    // Entries that arrive later are read after this page, so that no row moves.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** An older page. `until`: the time of the newest entry of the first page, so that later entries move no page. */
export const olderEntriesQuery = (organization: TrailOwner, filter: AuditTrailFilter, until: string, page: number) =>
  queryOptions({
    queryKey: [...trailKey(organization), 'older', filter, until, page],
    queryFn: ({ signal }) => {
      const parameters = toParameters({ ...filter, until });
      return readPage(organization, { ...parameters, 'page[number]': page, 'page[size]': ENTRIES_IN_PAGE }, signal);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

type NewEntries = { readonly entries: readonly AuditTrailRow[]; readonly next: string };

/**
 * The entries that were added after the entry `after`, newest first. It is empty at first, and each request adds what has
 * come since the previous one. The tab must be in front.
 */
export const newEntriesQuery = (organization: TrailOwner, filter: AuditTrailFilter, after: string) => {
  const queryKey = [...trailKey(organization), NEW_ENTRIES, filter, after] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<NewEntries> => {
      const before = client.getQueryData<NewEntries>(queryKey) ?? { entries: [], next: after };
      const query = { ...toParameters(filter), after: before.next, 'page[size]': MAX_NEW_ENTRIES };
      const { data, pagination } = await readPage(organization, query, signal);
      return {
        entries: data.length === 0 ? before.entries : [...data.toReversed(), ...before.entries],
        next: pagination.next_after ?? before.next,
      };
    },
    // Each message of the live stream reads again (concerned-queries.ts).
    staleTime: 0,
    gcTime: 0,
  });
};

/** An entry with its event and the other entries of its request. */
export const trailEntryQuery = (organization: TrailOwner, id: string) =>
  queryOptions({
    queryKey: [...trailKey(organization), 'entry', id],
    queryFn: ({ signal }) =>
      organization === null
        ? readDocument(api.GET(`${SITE_PATH}/{id}`, { params: { path: { id } }, signal }))
        : readDocument(api.GET(`${PATH}/{id}`, { params: { path: { organization, id } }, signal })),
  });

/** Returns the address of a file with all entries that match. */
export const getExportAddress = (organization: TrailOwner, filter: AuditTrailFilter): string => {
  const parameters = new URLSearchParams({ format: 'ndjson' });
  for (const [name, value] of Object.entries(toParameters(filter))) parameters.set(name, [value].flat().join(','));
  const path = organization === null ? SITE_PATH : PATH.replace('{organization}', encodeURIComponent(organization));
  return `${path}?${parameters.toString()}`;
};

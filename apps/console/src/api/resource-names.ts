import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';

/** Names of resources by their ids. Other resources are absent. */
export type NamesById = ReadonlyMap<string, string>;

/** The number of ids or resources in one request. */
const MAX_NAMES = 100;

type NamedData = { readonly data: readonly { readonly id: string; readonly attributes: { readonly name: string } }[] };
type NameSource = {
  /** The start of each id. */
  readonly prefix: string;
  /** The part of the key after the one of the organization, by which live messages name it. */
  readonly key: string;
  /** Whether the request names the ids. Otherwise one request serves all ids. */
  readonly isById: boolean;
  readonly read: (organization: string, ids: readonly string[], signal: AbortSignal) => Promise<NamedData>;
};

const FIRST_PAGE = { 'page[size]': MAX_NAMES } as const;

const SOURCES: readonly NameSource[] = [
  {
    prefix: 'ws-',
    key: 'workspaces',
    isById: true,
    read: (organization, ids, signal) => {
      const params = { path: { organization }, query: { ...FIRST_PAGE, 'filter[id]': [...ids] } };
      return readDocument(api.GET('/api/v2/organizations/{organization}/workspaces', { params, signal }));
    },
  },
  {
    prefix: 'prj-',
    key: 'projects',
    isById: false,
    read: (organization, _ids, signal) => {
      const params = { path: { organization }, query: FIRST_PAGE };
      return readDocument(api.GET('/api/v2/organizations/{organization}/projects', { params, signal }));
    },
  },
  {
    prefix: 'team-',
    key: 'teams',
    isById: false,
    read: (organization, _ids, signal) => {
      const params = { path: { organization }, query: FIRST_PAGE };
      return readDocument(api.GET('/api/v2/organizations/{organization}/teams', { params, signal }));
    },
  },
  {
    prefix: 'varset-',
    key: 'varsets',
    isById: false,
    read: (organization, _ids, signal) => {
      const params = { path: { organization }, query: FIRST_PAGE };
      return readDocument(api.GET('/api/v2/organizations/{organization}/varsets', { params, signal }));
    },
  },
  {
    prefix: 'apool-',
    key: 'agent-pools',
    isById: false,
    read: (organization, _ids, signal) => {
      const params = { path: { organization }, query: FIRST_PAGE };
      return readDocument(api.GET('/api/v2/organizations/{organization}/agent-pools', { params, signal }));
    },
  },
  {
    prefix: 'run-',
    key: 'runs',
    isById: false,
    // The newest runs.
    read: async (organization, _ids, signal) => {
      const params = { path: { organization }, query: FIRST_PAGE };
      const { data } = await readDocument(api.GET('/api/v2/organizations/{organization}/runs', { params, signal }));
      return { data: data.map(({ id, attributes: { message } }) => ({ id, attributes: { name: message || id } })) };
    },
  },
];

const toNameQuery = (organization: string, { key, isById, read }: NameSource, ids: readonly string[]) => ({
  queryKey: [...organizationKey(organization), key, 'names', ...(isById ? [ids] : [])],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<NamesById> => {
    const { data } = await read(organization, ids, signal);
    return new Map(data.map(({ id, attributes: { name } }) => [id, name]));
  },
});

const listNameQueries = (organization: string, groups: readonly (readonly string[])[]) => {
  const earlier = new Set<string>();
  const queries = groups.flatMap((group) => {
    const ids = [...new Set(group)].filter((id) => !earlier.has(id)).toSorted();
    for (const id of ids) earlier.add(id);
    return SOURCES.flatMap((source) => {
      const own = ids.filter((id) => id.startsWith(source.prefix)).slice(0, MAX_NAMES);
      return own.length === 0 ? [] : [toNameQuery(organization, source, own)];
    });
  });
  return [...new Map(queries.map((query) => [JSON.stringify(query.queryKey), query])).values()];
};

const joinNames = (results: readonly UseQueryResult<NamesById>[]): NamesById =>
  new Map(results.flatMap(({ data }) => [...(data ?? [])]));

/**
 * Returns the names of workspaces, projects, teams, variable sets and agent pools with these ids, and the messages of runs, as
 * far as the person may read them and the first page of a list contains them. A group of ids whose content stays the same needs
 * no further request when other groups are added.
 */
export const useResourceNames = (organization: string, groups: readonly (readonly string[])[]): NamesById =>
  useQueries({ queries: listNameQueries(organization, groups), combine: joinNames });

import { queryOptions } from '@tanstack/react-query';
import { readData } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';

const SUGGESTIONS = 50;

const poolsKey = (organization: string) => [...organizationKey(organization), 'agent-pools'] as const;

/** Pools with this text in their name, for suggestions. */
export const poolSuggestionsQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...poolsKey(organization), 'suggestions', name],
    queryFn: ({ signal }) => {
      const query = { 'page[size]': SUGGESTIONS, ...(name === '' ? {} : { q: name }) };
      const params = { path: { organization }, query };
      return readData(api.GET('/api/v2/organizations/{organization}/agent-pools', { params, signal }));
    },
  });

export const agentPoolQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...poolsKey(organization), 'one', id],
    queryFn: ({ signal }) => readData(api.GET('/api/v2/agent-pools/{id}', { params: { path: { id } }, signal })),
  });

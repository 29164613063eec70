import { parseSort, getParameter, type QueryParameters } from '#api/json-api';
import { SORTS, type AgentPoolFilter } from './agent-pools.queries.js';

const WORKSPACE = ['filter[allowed_workspaces][name]', 'filter[allowed-workspaces][name]'] as const;
const PROJECT = ['filter[allowed_projects][name]', 'filter[allowed-projects][name]'] as const;

/** The filters of the list of agent pools. Clients write them in two ways. */
export const AGENT_POOL_FILTERS = [...WORKSPACE, ...PROJECT];

const getEither = (query: QueryParameters, [name, alias]: readonly [string, string]): string | undefined =>
  getParameter(query, name) ?? getParameter(query, alias);

export const parseAgentPoolFilter = (query: QueryParameters): AgentPoolFilter => ({
  search: getParameter(query, 'q'),
  workspace: getEither(query, WORKSPACE),
  project: getEither(query, PROJECT),
  ...parseSort(query, SORTS),
});

import { parseSort, getParameter, type QueryParameters } from '#json-api';
import { SORTS, type AgentPoolFilter } from './agent-pools.queries.js';

export const parseAgentPoolFilter = (query: QueryParameters): AgentPoolFilter => ({
  search: getParameter(query, 'q'),
  workspace: getParameter(query, 'filter[allowed_workspaces][name]'),
  project: getParameter(query, 'filter[allowed_projects][name]'),
  ...parseSort(query, SORTS),
});

import { orderOf, parameter, type Query } from '#json-api';
import { SORTS, type AgentPoolFilter } from './agent-pools.queries.js';

/** The query parameters of the list of agent pools. */
export const filterOf = (query: Query): AgentPoolFilter => ({
  search: parameter(query, 'q'),
  workspace: parameter(query, 'filter[allowed_workspaces][name]'),
  project: parameter(query, 'filter[allowed_projects][name]'),
  ...orderOf(query, SORTS),
});

import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, readAllPages } from './pages.js';
import { useChange } from './use-change.js';

export type AccessMatrixRow = ApiResource<'AccessRow'>;
export type AccessCell = AccessMatrixRow['attributes']['accesses'][number];
export type ShownExplanation = ApiResource<'AccessExplanation'>;
export type ExplainablePermission = ShownExplanation['attributes']['permission'];

/** The number of rows that the API returns at most in one page. */
export const ACCESS_ROWS_IN_PAGE = 100;

export type AccessSearch = { readonly name?: string; readonly project?: string };
type AccessPage = { readonly rows: readonly AccessMatrixRow[]; readonly total: number };

const accessKey = (organization: string) => [...organizationKey(organization), 'access'] as const;

/** One page of projects and workspaces with the access of all teams. */
export const accessPageQuery = (organization: string, search: AccessSearch, page: number) =>
  queryOptions({
    queryKey: [...accessKey(organization), 'rows', search, page],
    queryFn: async ({ signal }): Promise<AccessPage> => {
      const query = {
        'page[number]': page,
        'page[size]': ACCESS_ROWS_IN_PAGE,
        ...(search.name ? { q: search.name } : {}),
        ...(search.project ? { 'filter[project][id]': search.project } : {}),
      };
      const params = { path: { organization }, query };
      const { data, meta } = await readDocument(
        api.GET('/api/v2/organizations/{organization}/access-rows', { params, signal }),
      );
      return { rows: data, total: meta.pagination['total-count'] };
    },
  });

/** The projects and workspaces to which a team has access, page by page. */
export const teamAccessQuery = (organization: string, team: string) =>
  pagedQuery([...accessKey(organization), 'of-team', team], (page, signal) => {
    const params = { path: { organization }, query: { ...page, 'filter[team][id]': team } };
    return readDocument(api.GET('/api/v2/organizations/{organization}/access-rows', { params, signal }));
  });

export type TeamProjectAccess = ApiResource<'TeamProject'>;

/** The access of teams to a project. */
export const projectAccessQuery = (organization: string, project: string) =>
  queryOptions({
    queryKey: [...accessKey(organization), 'project', project],
    queryFn: async ({ signal }): Promise<readonly TeamProjectAccess[]> => {
      const pages = await readAllPages((page) => {
        const query = { ...page, 'filter[project][id]': project };
        return readDocument(api.GET('/api/v2/team-projects', { params: { query }, signal }));
      });
      return pages.flatMap(({ data }) => data);
    },
  });

/** The target of an access, with its level. Null: the team has none. */
type ChangedAccess = { readonly on: 'project' | 'workspace'; readonly id: string; readonly team: string };

export const WORKSPACE_LEVELS = ['read', 'plan', 'write', 'admin'] as const;
export const PROJECT_LEVELS = ['read', 'write', 'maintain', 'admin'] as const;

/** Returns the id of the access. */
const createAccess = async ({ on, id, team }: ChangedAccess, access: string): Promise<string> => {
  const toTeam = { team: { data: { type: 'teams' as const, id: team } } };
  if (on === 'project') {
    const relationships = { ...toTeam, project: { data: { type: 'projects' as const, id } } };
    const attributes = { access: access as (typeof PROJECT_LEVELS)[number] };
    const body = { data: { type: 'team-projects' as const, attributes, relationships } };
    return (await readData(api.POST('/api/v2/team-projects', { body }))).id;
  }
  const relationships = { ...toTeam, workspace: { data: { type: 'workspaces' as const, id } } };
  const attributes = { access: access as (typeof WORKSPACE_LEVELS)[number] };
  const body = { data: { type: 'team-workspaces' as const, attributes, relationships } };
  return (await readData(api.POST('/api/v2/team-workspaces', { body }))).id;
};

const updateAccess = ({ on }: ChangedAccess, id: string, access: string) => {
  const params = { path: { id } };
  if (on === 'project') {
    const attributes = { access: access as (typeof PROJECT_LEVELS)[number] };
    const body = { data: { type: 'team-projects' as const, attributes } };
    return requireSuccess(api.PATCH('/api/v2/team-projects/{id}', { params, body }));
  }
  const attributes = { access: access as (typeof WORKSPACE_LEVELS)[number] };
  const body = { data: { type: 'team-workspaces' as const, attributes } };
  return requireSuccess(api.PATCH('/api/v2/team-workspaces/{id}', { params, body }));
};

const deleteAccess = ({ on }: ChangedAccess, id: string) => {
  const params = { path: { id } };
  return requireSuccess(
    on === 'project'
      ? api.DELETE('/api/v2/team-projects/{id}', { params })
      : api.DELETE('/api/v2/team-workspaces/{id}', { params }),
  );
};

type AccessChange = { readonly existing: string | null; readonly level: string | null };

/**
 * Gives, changes or removes the access of a team. `existing`: the access that it has. `level`: null removes it. Returns the
 * access that the team has then.
 */
export const useChangeAccess = (organization: string, target: ChangedAccess) =>
  useChange({
    mutationFn: async ({ existing, level }: AccessChange): Promise<string | null> => {
      if (existing === null) return level === null ? null : createAccess(target, level);
      await (level === null ? deleteAccess(target, existing) : updateAccess(target, existing, level));
      return level === null ? null : existing;
    },
    rereads: organizationKey(organization),
  });

/** A question about access. The names are those in the address of the screen. */
export type ExplanationSearch = {
  readonly user?: string;
  readonly team?: string;
  readonly permission?: ExplainablePermission;
  readonly workspace?: string;
  readonly project?: string;
};

/** The explanation of a permission. The server decides it. */
export const explanationQuery = (organization: string, search: ExplanationSearch) =>
  queryOptions({
    queryKey: [...accessKey(organization), 'explanation', search],
    queryFn: ({ signal }) => {
      const { user, team, permission = 'read-organization', workspace, project } = search;
      const query = {
        'filter[permission]': permission,
        ...(user ? { 'filter[user]': user } : {}),
        ...(team ? { 'filter[team]': team } : {}),
        ...(workspace ? { 'filter[workspace]': workspace } : {}),
        ...(project ? { 'filter[project]': project } : {}),
      };
      const params = { path: { organization }, query };
      const path = '/api/v2/organizations/{organization}/access-explanations';
      return readData(api.GET(path, { params, signal }));
    },
  });

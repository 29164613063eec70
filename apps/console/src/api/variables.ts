import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { readAllPages, type PageParameters } from './pages.js';
import { useChange } from './use-change.js';
import { workspaceKey } from './workspaces.js';

export type ConsoleVariable = ApiResource<'Variable'>;
export type VariableFormBody = RequestResource<'createWorkspaceVariable'>['attributes'];

/** A variable and where it is defined. */
export type VariableDefinition = {
  readonly variable: ConsoleVariable;
  /** The set that has the variable; null for the workspace itself. */
  readonly set: ApiResource<'VariableSet'> | null;
};

/** The variables of one key and category: the effective one, and those that it overrides. */
export type VariableGroup = {
  readonly effective: VariableDefinition;
  readonly overridden: readonly VariableDefinition[];
};

const toSlot = ({ attributes }: ConsoleVariable): string => `${attributes.category} ${attributes.key}`;

/**
 * Returns the effective variables, each followed by those that it overrides. The server records each request in the audit
 * trail, so the first one asks for the whole list. Lists with very long values have several pages.
 */
const readVariables = async (id: string, signal: AbortSignal): Promise<readonly ConsoleVariable[]> => {
  const readPage = (page: Partial<PageParameters>) => {
    const params = { path: { id }, query: { ...page, 'filter[overridden]': 'true' as const } };
    return readDocument(api.GET('/api/v2/workspaces/{id}/all-vars', { params, signal }));
  };
  const { data, meta } = await readPage({});
  return meta.pagination['next-page'] === null ? data : (await readAllPages(readPage)).flatMap((page) => page.data);
};

/** The server does not record who reads the names of sets. */
const readSets = async (id: string, signal: AbortSignal): Promise<readonly ApiResource<'VariableSet'>[]> => {
  const pages = await readAllPages((query) =>
    readDocument(api.GET('/api/v2/workspaces/{id}/varsets', { params: { path: { id }, query }, signal })),
  );
  return pages.flatMap(({ data }) => data);
};

const findSetId = ({ relationships }: ConsoleVariable): string | null =>
  'varset' in relationships ? relationships.varset.data.id : null;

/** The variables of a workspace by key. The API decides which of several variables with the same key is effective. */
export const variablesQuery = (organization: string, name: string, id: string) =>
  queryOptions({
    queryKey: [...workspaceKey(organization, name), 'variables', id],
    meta: { readAgainFor: ['vars', 'varsets'] },
    queryFn: async ({ signal }): Promise<readonly VariableGroup[]> => {
      const [variables, sets] = await Promise.all([readVariables(id, signal), readSets(id, signal)]);
      const setsById = new Map(sets.map((set) => [set.id, set]));
      const groups = Map.groupBy(
        variables.map((variable) => ({ variable, set: setsById.get(findSetId(variable) ?? '') ?? null })),
        ({ variable }) => toSlot(variable),
      );
      return [...groups.values()].flatMap(([effective, ...overridden]) =>
        effective ? [{ effective, overridden }] : [],
      );
    },
  });

export type VariableChange =
  | { readonly action: 'create'; readonly attributes: VariableFormBody }
  | { readonly action: 'update'; readonly variable: ConsoleVariable; readonly attributes: Partial<VariableFormBody> }
  | { readonly action: 'delete'; readonly variable: string };

/** Returns the variable with this id. */
export const findVariable = (groups: readonly VariableGroup[], id: string): ConsoleVariable | undefined =>
  groups.flatMap(({ effective, overridden }) => [effective, ...overridden]).find(({ variable }) => variable.id === id)
    ?.variable;

const sendVariable = (id: string, change: VariableChange): Promise<void> => {
  if (change.action === 'create') {
    const body = { data: { type: 'vars' as const, attributes: change.attributes } };
    return requireSuccess(api.POST('/api/v2/workspaces/{id}/vars', { params: { path: { id } }, body }));
  }
  if (change.action === 'delete') {
    const params = { path: { id, variable: change.variable } };
    return requireSuccess(api.DELETE('/api/v2/workspaces/{id}/vars/{variable}', { params }));
  }
  const params = { path: { id, variable: change.variable.id } };
  const body = { data: { type: 'vars' as const, attributes: change.attributes } };
  return requireSuccess(api.PATCH('/api/v2/workspaces/{id}/vars/{variable}', { params, body }));
};

/**
 * Creates, changes or deletes a variable of the workspace itself. If somebody has changed the variable since the person saw
 * it, an update sends nothing and returns `outdated`. The query of the variables then has the present one.
 */
export const useChangeVariable = (organization: string, name: string, id: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: async (change: VariableChange): Promise<'changed' | 'outdated'> => {
      if (change.action === 'update') {
        const { variable } = change;
        const groups = await queries.fetchQuery({ ...variablesQuery(organization, name, id), staleTime: 0 });
        const present = findVariable(groups, variable.id);
        if (present && present.attributes['version-id'] !== variable.attributes['version-id']) return 'outdated';
      }
      await sendVariable(id, change);
      return 'changed';
    },
    // The request can have a sensitive value.
    gcTime: 0,
    rereads: workspaceKey(organization, name),
  });
};

/** Changes variables of a workspace, or those of a variable set. */
export type VariableMutation = ReturnType<typeof useChangeVariable>;

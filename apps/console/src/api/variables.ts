import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { readAllPages } from './pages.js';
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

const readEffective = async (id: string, signal: AbortSignal) => {
  const pages = await readAllPages((query) =>
    readDocument(api.GET('/api/v2/workspaces/{id}/all-vars', { params: { path: { id }, query }, signal })),
  );
  return pages.flatMap(({ data }) => data);
};

const readOwn = async (id: string, signal: AbortSignal): Promise<readonly VariableDefinition[]> => {
  const pages = await readAllPages((query) =>
    readDocument(api.GET('/api/v2/workspaces/{id}/vars', { params: { path: { id }, query }, signal })),
  );
  return pages.flatMap(({ data }) => data.map((variable) => ({ variable, set: null })));
};

const readOfSets = async (id: string, signal: AbortSignal): Promise<readonly VariableDefinition[]> => {
  const pages = await readAllPages((page) => {
    const query = { ...page, include: ['vars' as const] };
    return readDocument(api.GET('/api/v2/workspaces/{id}/varsets', { params: { path: { id }, query }, signal }));
  });
  return pages.flatMap(({ data, included = [] }) =>
    data.flatMap((set) => {
      const ids = new Set(set.relationships.vars.data.map((each) => each.id));
      return included.flatMap((each) => (each.type === 'vars' && ids.has(each.id) ? [{ variable: each, set }] : []));
    }),
  );
};

/** The variables of a workspace by key. The API decides which of several variables with the same key is effective. */
export const variablesQuery = (organization: string, name: string, id: string) =>
  queryOptions({
    queryKey: [...workspaceKey(organization, name), 'variables', id],
    meta: { readAgainFor: ['vars', 'varsets'] },
    queryFn: async ({ signal }): Promise<readonly VariableGroup[]> => {
      const [effective, own, ofSets] = await Promise.all([
        readEffective(id, signal),
        readOwn(id, signal),
        readOfSets(id, signal),
      ]);
      const bySlot = Map.groupBy([...own, ...ofSets], ({ variable }) => toSlot(variable));
      return effective.map((variable) => {
        const all = bySlot.get(toSlot(variable)) ?? [];
        return {
          effective: all.find((each) => each.variable.id === variable.id) ?? { variable, set: null },
          overridden: all.filter((each) => each.variable.id !== variable.id),
        };
      });
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
    onSettled: () => queries.invalidateQueries({ queryKey: workspaceKey(organization, name) }),
  });
};

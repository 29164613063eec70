import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, readAllPages } from './pages.js';
import { useChange } from './use-change.js';
import type { ConsoleVariable, VariableChange, VariableMutation } from './variables.js';

export type VariableSet = ApiResource<'VariableSet'>;
export type VariableSetDocument = ApiResource<'VariableSetDocumentWithIncluded'>;

const variableSetsKey = (organization: string) => [...organizationKey(organization), 'variable-sets'] as const;

/** The variable sets that the person may read, page by page. */
export const variableSetsQuery = (organization: string) =>
  pagedQuery([...variableSetsKey(organization), 'list'], (page, signal) => {
    const params = { path: { organization }, query: page };
    return readDocument(api.GET('/api/v2/organizations/{organization}/varsets', { params, signal }));
  });

/** The variable sets that apply to a project, page by page. */
export const projectVariableSetsQuery = (organization: string, project: string) =>
  pagedQuery([...variableSetsKey(organization), 'project', project], (page, signal) => {
    const params = { path: { id: project }, query: page };
    return readDocument(api.GET('/api/v2/projects/{id}/varsets', { params, signal }));
  });

/** A variable set with the workspaces and projects to which it is applied. */
export const variableSetQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...variableSetsKey(organization), 'one', id],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { include: ['workspaces' as const, 'projects' as const] } };
      return readDocument(api.GET('/api/v2/varsets/{id}', { params, signal }));
    },
  });

/** The variables of a set. The server records this read in the audit trail. */
export const setVariablesQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...variableSetsKey(organization), 'variables', id],
    meta: { readAgainFor: ['vars', 'varsets'] },
    queryFn: async ({ signal }): Promise<readonly ConsoleVariable[]> => {
      const pages = await readAllPages((query) => {
        const params = { path: { id }, query };
        return readDocument(api.GET('/api/v2/varsets/{id}/relationships/vars', { params, signal }));
      });
      return pages.flatMap(({ data }) => data);
    },
  });

export type NewVariableSet = {
  readonly name: string;
  readonly description: string;
  readonly global: boolean;
  readonly priority: boolean;
  /** The project that owns the set, or null for the organization. */
  readonly parent: string | null;
};

export const useCreateVariableSet = (organization: string) =>
  useChange({
    mutationFn: ({ parent, ...attributes }: NewVariableSet) => {
      const params = { path: { organization } };
      const relationships = parent === null ? {} : { parent: { data: { type: 'projects' as const, id: parent } } };
      const body = { data: { type: 'varsets' as const, attributes, relationships } };
      return readData(api.POST('/api/v2/organizations/{organization}/varsets', { params, body }));
    },
    rereads: variableSetsKey(organization),
  });

/** Changes of sets reach the variables of workspaces, so everything is read again. */
export const useUpdateVariableSet = (organization: string, id: string) =>
  useChange({
    mutationFn: (attributes: Partial<Omit<NewVariableSet, 'parent'>>) => {
      const body = { data: { type: 'varsets' as const, attributes } };
      return requireSuccess(api.PATCH('/api/v2/varsets/{id}', { params: { path: { id } }, body }));
    },
    rereads: organizationKey(organization),
  });

export const useDeleteVariableSet = (organization: string, id: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: () => requireSuccess(api.DELETE('/api/v2/varsets/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      queries.removeQueries({ queryKey: variableSetQuery(organization, id).queryKey });
      queries.removeQueries({ queryKey: setVariablesQuery(organization, id).queryKey });
      void queries.invalidateQueries({ queryKey: organizationKey(organization) });
    },
  });
};

export type TargetKind = 'workspaces' | 'projects';
type TargetChange = { readonly action: 'add' | 'remove'; readonly kind: TargetKind; readonly id: string };

/** Applies a set to a workspace or project, or ends that. */
export const useChangeTarget = (organization: string, set: string) =>
  useChange({
    mutationFn: ({ action, kind, id }: TargetChange) => {
      const params = { path: { id: set } };
      if (kind === 'workspaces') {
        const path = '/api/v2/varsets/{id}/relationships/workspaces';
        const body = { data: [{ type: kind, id }] };
        return requireSuccess(action === 'add' ? api.POST(path, { params, body }) : api.DELETE(path, { params, body }));
      }
      const path = '/api/v2/varsets/{id}/relationships/projects';
      const body = { data: [{ type: kind, id }] };
      return requireSuccess(action === 'add' ? api.POST(path, { params, body }) : api.DELETE(path, { params, body }));
    },
    rereads: organizationKey(organization),
  });

const sendVariable = (id: string, change: VariableChange): Promise<void> => {
  if (change.action === 'create') {
    const body = { data: { type: 'vars' as const, attributes: change.attributes } };
    return requireSuccess(api.POST('/api/v2/varsets/{id}/relationships/vars', { params: { path: { id } }, body }));
  }
  if (change.action === 'delete') {
    const params = { path: { id, variable: change.variable } };
    return requireSuccess(api.DELETE('/api/v2/varsets/{id}/relationships/vars/{variable}', { params }));
  }
  const params = { path: { id, variable: change.variable.id } };
  const body = { data: { type: 'vars' as const, attributes: change.attributes } };
  return requireSuccess(api.PATCH('/api/v2/varsets/{id}/relationships/vars/{variable}', { params, body }));
};

/** Creates, changes or deletes a variable of a set. If somebody has changed it in the meantime, it returns `outdated`. */
export const useChangeSetVariable = (organization: string, id: string): VariableMutation => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: async (change: VariableChange): Promise<'changed' | 'outdated'> => {
      if (change.action === 'update') {
        const { variable } = change;
        const variables = await queries.fetchQuery({ ...setVariablesQuery(organization, id), staleTime: 0 });
        const present = variables.find((each) => each.id === variable.id);
        if (present && present.attributes['version-id'] !== variable.attributes['version-id']) return 'outdated';
      }
      await sendVariable(id, change);
      return 'changed';
    },
    // The request can have a sensitive value.
    gcTime: 0,
    rereads: variableSetsKey(organization),
  });
};

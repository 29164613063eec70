import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import type { RequestResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';
import { useChange } from './use-change.js';
import { workspaceQuery, workspacesKey, type Workspace } from './workspaces.js';

export type WorkspaceInput = NonNullable<RequestResource<'updateWorkspace'>['attributes']>;

type WorkspaceUpdate = {
  readonly attributes?: WorkspaceInput;
  /** The id of the project that the workspace moves to. */
  readonly project?: string;
};

const patchWorkspace = (id: string, { attributes = {}, project }: WorkspaceUpdate): Promise<Workspace> => {
  const relationships = project === undefined ? {} : { project: { data: { type: 'projects' as const, id: project } } };
  const body = { data: { type: 'workspaces' as const, attributes, relationships } };
  return readData(api.PATCH('/api/v2/workspaces/{id}', { params: { path: { id } }, body }));
};

/** Returns a function that replaces the address of the open screens of a workspace if they have its former name. */
const useFollowOwnRename = (organization: string) => {
  const queries = useQueryClient();
  const router = useRouter();
  return async (changed: Workspace): Promise<void> => {
    const { name } = changed.attributes;
    const opened = router.state.matches
      .map(({ params }) => params as { readonly workspace?: string })
      .at(-1)?.workspace;
    if (opened === undefined || opened === name) return;
    const document = queries.getQueryData(workspaceQuery(organization, opened).queryKey);
    if (document?.data.id !== changed.id) return;
    queries.setQueryData(workspaceQuery(organization, name).queryKey, { ...document, data: changed });
    await router.navigate({
      to: '.',
      params: (before) => ({ ...before, workspace: name }),
      search: true,
      replace: true,
      // The screen stays as it is, with everything that the person has entered in other cards.
      ignoreBlocker: true,
    });
  };
};

/** Changes settings of a workspace, or moves it. */
export const useUpdateWorkspace = (organization: string, { id }: Workspace) => {
  const follow = useFollowOwnRename(organization);
  return useChange({
    mutationFn: (update: WorkspaceUpdate) => patchWorkspace(id, update),
    // The former name is not read again.
    onSuccess: follow,
    rereads: workspacesKey(organization),
  });
};

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { readData } from './api-error.js';
import { api } from './client.js';
import { organizationKey, organizationQuery } from './organizations.js';
import { projectSuggestionsQuery } from './projects.js';
import { useChange } from './use-change.js';

/**
 * Returns whether the person may create workspaces, in all projects or in some. Undefined until the answer is there. If the
 * projects cannot be read, the server decides when the person tries.
 */
export const useWorkspaceCreation = (organization: string): boolean | undefined => {
  const { data } = useQuery(organizationQuery(organization));
  const isEverywhere = data?.attributes.permissions['can-create-workspace'];
  const { data: projects, isError } = useQuery({
    ...projectSuggestionsQuery(organization, '', 'create-workspace'),
    enabled: isEverywhere === false,
  });
  return isEverywhere === true || isError ? true : projects && projects.length > 0;
};

export type NewWorkspace = {
  readonly name: string;
  readonly description: string;
  /** The id of a project. Null: the default project. */
  readonly project: string | null;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
};

const toCreationBody = ({ name, description, project, tags }: NewWorkspace) => ({
  data: {
    type: 'workspaces' as const,
    attributes: { name, ...(description === '' ? {} : { description }) },
    relationships: {
      ...(project === null ? {} : { project: { data: { type: 'projects' as const, id: project } } }),
      ...(tags.length === 0
        ? {}
        : { 'tag-bindings': { data: tags.map((attributes) => ({ type: 'tag-bindings' as const, attributes })) } }),
    },
  },
});

export const useCreateWorkspace = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (workspace: NewWorkspace) => {
      const params = { path: { organization } };
      const body = toCreationBody(workspace);
      return readData(api.POST('/api/v2/organizations/{organization}/workspaces', { params, body }));
    },
    // Projects and the first screen count workspaces too. The dialog does not wait for them.
    onSuccess: () => void queries.invalidateQueries({ queryKey: organizationKey(organization) }),
  });
};

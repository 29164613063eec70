import { describeController, describePage, listParameter, pageParameters } from '#api/json-api/description';
import { MAX_ACTOR_LENGTH, WorkspaceChangesController } from './workspace-changes.controller.js';

export const WORKSPACE_HISTORY = { name: 'Workspace history', description: 'Changes and locks of workspaces.' };

export const workspaceChangesOperations = describeController(WorkspaceChangesController, WORKSPACE_HISTORY, {
  list: {
    operationId: 'listWorkspaceChanges',
    summary: 'List the changes of a workspace',
    description:
      'The newest change is first. The list leaves out fields that you may not read. It includes changes of a deleted workspace. Pages are shorter if the values are long.',
    query: {
      ...pageParameters(),
      'filter[field]': listParameter(
        'Only changes of any of these fields, by the name of the attribute or relationship.',
      ),
      'filter[actor]': listParameter('Only changes of these accounts or tokens, by id or name.', {
        mostCharacters: MAX_ACTOR_LENGTH,
      }),
    },
    answer: describePage('WorkspaceChange'),
  },
});

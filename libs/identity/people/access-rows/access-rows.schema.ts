import { z } from 'zod';
import { PROJECT_LEVELS, WORKSPACE_LEVELS } from '#api/access';
import { defineResource, exampleText, permissionFlags, relatedAlways, relatedOne } from '#api/json-api/description';

const cell = z.strictObject({
  id: exampleText('tws-9xTc4QvKz7LbNw2R', 'The id of the `team-workspaces` or `team-projects`.'),
  team: exampleText('team-3kPz8WvQy5NxTbRc'),
  on: z.enum(['project', 'workspace']),
  level: z.enum([...new Set([...WORKSPACE_LEVELS, ...PROJECT_LEVELS])]),
});

export const accessRowSchema = defineResource({
  name: 'AccessRow',
  type: 'access-rows',
  description: 'A project or a workspace, with the access of each team. It has the id of the project or workspace.',
  exampleId: 'ws-7hQ2vXbN4kTgYw3D',
  attributes: {
    kind: z.enum(['projects', 'workspaces']),
    name: exampleText('network'),
    'project-name': exampleText('Default Project'),
    accesses: z.array(cell).meta({
      description: 'The access of the teams that you may see. A workspace shows the access to its project too.',
    }),
    permissions: permissionFlags('can-manage-workspace-access', 'can-manage-project-access'),
  },
  relationships: { project: relatedAlways('projects'), workspace: relatedOne('workspaces') },
});

import { z } from 'zod';
import { PROJECT_LEVELS, WORKSPACE_LEVELS } from '#api/access';
import {
  defineResource,
  describeController,
  exampleText,
  parameter,
  permissionFlags,
  related,
} from '#api/json-api/description';
import { AccessRowsController } from './access-rows.controller.js';

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
  relationships: { project: related.always('projects'), workspace: related.one('workspaces') },
});

const ACCESS_ROWS = {
  name: 'Access rows',
  description: 'The access of all teams to the projects and workspaces of an organization.',
  resource: accessRowSchema,
};

export const accessRowsOperations = describeController(AccessRowsController, ACCESS_ROWS, {
  list: {
    summary: 'List the access of all teams to projects and workspaces',
    description:
      'Each project is followed by its workspaces. The access of teams to the whole organization is not listed here: teams show it.',
    query: {
      q: parameter.text('Only projects and workspaces with this text in their name, ignoring case.'),
      'filter[project][id]': parameter.text('Only this project and its workspaces.'),
      'filter[team][id]': parameter.text(
        'Only projects and workspaces to which this team has access. A workspace to which the team has access only by its project is not listed.',
      ),
    },
  },
});

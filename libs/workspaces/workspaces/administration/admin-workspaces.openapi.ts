import { z } from 'zod';
import {
  defineResource,
  describeController,
  exampleText,
  parameter,
  related,
  serverPath,
  sortParameter,
} from '#api/json-api/description';
import { WORKSPACES } from '../workspaces/workspaces.openapi.js';
import { ADMIN_WORKSPACE_INCLUDES, AdminWorkspacesController } from './admin-workspaces.controller.js';
import { ADMIN_WORKSPACE_SORTS } from './admin-workspaces.queries.js';

const ID = 'ws-7hQ2vXbN4kTgYw3D';

export const administeredWorkspaceSchema = defineResource({
  name: 'AdministeredWorkspace',
  type: 'workspaces',
  description: 'A workspace as site administrators see it.',
  noun: 'workspace',
  exampleId: ID,
  attributes: {
    name: exampleText('network'),
    locked: z.boolean(),
    'vcs-repo': z
      .strictObject({ identifier: exampleText('acme/network') })
      .nullable()
      .meta({ examples: [null] }),
  },
  relationships: {
    organization: related.always('organizations'),
    'current-run': related.one('runs').meta({ description: 'The current run, or the last one.' }),
  },
  links: { self: serverPath(`/api/v2/admin/workspaces/${ID}`) },
});

const group = {
  ...WORKSPACES,
  resource: administeredWorkspaceSchema,
  idName: 'SiteWorkspace',
  include: { values: ADMIN_WORKSPACE_INCLUDES, resources: ['Organization', 'Run'] },
};

export const adminWorkspacesOperations = describeController(AdminWorkspacesController, group, {
  list: {
    summary: 'List the workspaces of all organizations as a site administrator',
    query: {
      ...sortParameter(ADMIN_WORKSPACE_SORTS),
      q: parameter.text(
        'Only the workspace with this id, and workspaces with this text in their name or in the name of their organization.',
      ),
      'filter[current_run][status]': parameter.list('Only workspaces whose current run has one of these statuses.'),
    },
  },
  show: { summary: 'Show any workspace as a site administrator' },
  destroy: {
    summary: 'Delete any workspace as a site administrator',
    description:
      'The server deletes the workspace even if it is locked or manages resources. Until the end of the recovery period, ' +
      'it is one of the `recoverable-items` of its organization.',
  },
});

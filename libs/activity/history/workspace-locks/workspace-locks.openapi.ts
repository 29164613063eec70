import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { WORKSPACE_HISTORY } from '../workspace-changes/workspace-changes.openapi.js';
import { relatedActor } from '../workspace-changes/workspace-changes.openapi.js';
import { WorkspaceLocksController } from './workspace-locks.controller.js';
import { LOCK_HOLDERS } from './workspace-locks.queries.js';

export const workspaceLockSchema = defineResource({
  name: 'WorkspaceLock',
  type: 'workspace-locks',
  description: 'A period in which a workspace is or was locked.',
  exampleId: '0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f',
  attributes: {
    'workspace-name': exampleText('network', 'Null if the workspace was deleted.').nullable(),
    reason: exampleText('Upgrading the provider', 'An empty text if the holder gave no reason.'),
    'locked-at': timestamp(),
    'locked-by-name': exampleText('ada', 'Null if you may not see the team.').nullable(),
    'unlocked-at': timestamp('Null while the workspace is locked.').nullable(),
    'unlocked-by-name': exampleText(
      'ada',
      'Null while the workspace is locked, or if you may not see the team.',
    ).nullable(),
    forced: z.boolean().nullable().meta({
      description: 'Whether another caller than the holder ended the lock. Null while the workspace is locked.',
    }),
    'duration-seconds': count('The full seconds until the end of the lock, or until now.'),
  },
  relationships: {
    workspace: related.always('workspaces'),
    'locked-by': relatedActor(),
    'unlocked-by': relatedActor(),
  },
});

export const workspaceLocksOperations = describeController(
  WorkspaceLocksController,
  { ...WORKSPACE_HISTORY, resource: workspaceLockSchema },
  {
    listLocks: {
      operationId: 'listCurrentWorkspaceLocks',
      summary: 'List the current locks of the workspaces of an organization',
      description: 'The oldest lock is first. The list has the locks of workspaces that you may read.',
      query: {
        'filter[locked-by]': parameter.choices(
          LOCK_HOLDERS,
          'Only locks of these holders, such as `users,teams` for locks that no run holds.',
        ),
      },
    },
    listOf: {
      operationId: 'listWorkspaceLocks',
      summary: 'List the current and the earlier locks of a workspace',
      description: 'The newest lock is first.',
    },
  },
);

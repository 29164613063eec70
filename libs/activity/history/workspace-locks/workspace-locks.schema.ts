import { z } from 'zod';
import { count, defineResource, exampleText, relatedAlways, timestamp } from '#api/json-api/description';
import { relatedActor } from '../workspace-changes/workspace-changes.schema.js';

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
    workspace: relatedAlways('workspaces'),
    'locked-by': relatedActor(),
    'unlocked-by': relatedActor(),
  },
});

import { z } from 'zod';
import { EXECUTION_MODES } from '#platform/kernel';
import {
  always,
  count,
  defineResource,
  exampleText,
  permissionFlags,
  relatedAlways,
  relatedIfIncluded,
  relatedLink,
  relatedOne,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { PROJECT_SETTINGS } from './project-settings.js';

const overwrites = z
  .strictObject({
    'default-execution-mode': z.boolean(),
    'default-agent-pool': z.boolean(),
    'execution-mode': z.boolean(),
    'agent-pool': z.boolean(),
  })
  .meta({ description: 'Which settings are its own. The others follow the organization.' });

export const projectSchema = defineResource({
  name: 'Project',
  type: 'projects',
  description: 'A group of workspaces with common settings, access and tags.',
  exampleId: 'prj-6wR2mJ8tQfKx9LpZ',
  attributes: {
    name: exampleText('Default Project'),
    description: z.string().nullable(),
    'created-at': timestamp(),
    'is-unified': always(false),
    'workspace-count': count('The number of its workspaces that you may read.'),
    'team-count': count('The number of teams with access to it that you may see.'),
    'stack-count': always(0),
    'auto-destroy-activity-duration': exampleText(
      '14d',
      'Days or hours without a run until the resources of a workspace are destroyed.',
    )
      .nullable()
      .meta({ examples: [null] }),
    'default-execution-mode': z.enum(EXECUTION_MODES).meta({ description: 'The effective mode.' }),
    'stacks-default-execution-mode': PROJECT_SETTINGS.shape.stacksDefaultExecutionMode,
    'setting-overwrites': overwrites,
    permissions: permissionFlags(
      'can-read',
      'can-update',
      'can-destroy',
      'can-create-workspace',
      'can-move-workspace',
      'can-move-stack',
      'can-deploy-no-code-modules',
      'can-read-teams',
      'can-manage-tags',
      'can-manage-teams',
      'can-manage-in-hcp',
    ),
  },
  relationships: {
    organization: relatedAlways('organizations'),
    'default-agent-pool': relatedOne('agent-pools'),
    'tag-bindings': relatedLink(),
    'effective-tag-bindings': relatedIfIncluded('effective-tag-bindings'),
  },
  links: { self: serverPath('/api/v2/projects/prj-6wR2mJ8tQfKx9LpZ') },
});

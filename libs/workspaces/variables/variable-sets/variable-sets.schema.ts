import { z } from 'zod';
import {
  count,
  defineResource,
  exampleText,
  relatedAlways,
  relatedMany,
  serverPath,
  timestamp,
} from '#api/json-api/description';

export const variableSetSchema = defineResource({
  name: 'VariableSet',
  type: 'varsets',
  description: 'Variables that several workspaces share.',
  exampleId: 'varset-5rLhYb9TnKx2VdQs',
  attributes: {
    name: exampleText('aws'),
    description: exampleText('Credentials of the AWS account').nullable(),
    global: z.boolean().meta({ description: 'Whether the set applies to all workspaces of the organization.' }),
    priority: z
      .boolean()
      .meta({ description: 'Whether its variables win over variables of narrower scopes with the same key.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    'var-count': count(),
    'workspace-count': count('The number of workspaces in the relationship.'),
    'project-count': count('The number of projects in the relationship.'),
  },
  relationships: {
    organization: relatedAlways('organizations'),
    parent: relatedAlways('organizations', 'projects').meta({ description: 'The owner of the set.' }),
    vars: relatedMany('vars'),
    workspaces: relatedMany('workspaces').meta({
      description: 'The workspaces that the set is applied to and that you may read.',
    }),
    projects: relatedMany('projects').meta({
      description: 'The projects that the set is applied to and that you may read.',
    }),
    stacks: relatedMany('stacks').meta({ description: 'Always empty, because there are no stacks.' }),
  },
  links: { self: serverPath('/api/v2/varsets/varset-5rLhYb9TnKx2VdQs') },
});

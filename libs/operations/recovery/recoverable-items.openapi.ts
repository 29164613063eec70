import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeOptionalBody,
  exampleText,
  parameter,
  permissionFlags,
  principal,
  related,
  timestamp,
} from '#api/json-api/description';
import { RecoverableItemsController, recoverBody } from './recoverable-items.controller.js';
import { RECOVERABLE_KINDS } from './recoverable-items.queries.js';

const change = z.strictObject({
  field: exampleText('project', 'What differs.'),
  detail: exampleText('Project prj-5kTn2WqZr8LcXbJd is gone: the workspace is in Default Project'),
});

export const recoverableItemSchema = defineResource({
  name: 'RecoverableItem',
  type: 'recoverable-items',
  description:
    'An extension of Cadastre: a deleted resource that can come back, with the id that it had. After its recovery it is no longer deleted, and the times are null.',
  exampleId: 'ws-5kTn2WqZr8LcXbJd',
  attributes: {
    changes: z
      .array(change)
      .meta({ description: 'What is not as it was before the deletion. Empty until the recovery.' }),
    'deleted-at': timestamp('Null after the recovery.').nullable(),
    'deleted-by': principal
      .nullable()
      .meta({ description: 'Null after the recovery, or if you may not see who it was.' }),
    kind: z.enum(RECOVERABLE_KINDS).meta({ description: 'The type of the resource.' }),
    name: exampleText('networking'),
    permissions: permissionFlags('can-purge', 'can-recover'),
    'recoverable-until': timestamp('When it is removed for good. Null after the recovery.').nullable(),
  },
  relationships: {
    item: related.always(...RECOVERABLE_KINDS),
    project: related.one('projects'),
  },
});

const RECOVERABLE_ITEMS = {
  name: 'Recoverable items',
  description:
    'An extension of Cadastre. Deleted workspaces come back with their settings, variables, tags, access of teams and states, deleted projects with their settings, tags, access of teams and variable sets, deleted variable sets with their variables and targets, and deleted providers with their versions and files, until `recoverable-until` (`CADASTRE_RECOVERABLE_DAYS`).',
  resource: recoverableItemSchema,
};

export const recoverableItemsOperations = describeController(RecoverableItemsController, RECOVERABLE_ITEMS, {
  list: {
    summary: 'List the deleted resources of an organization that you may recover',
    description: 'Callers that may delete a resource may also recover it. The last deleted ones come first.',
    query: { 'filter[kind]': parameter.choice(RECOVERABLE_KINDS, 'Only resources of this type.') },
  },
  recover: {
    summary: 'Recover a deleted resource',
    description:
      'The resource has the id that it had. A workspace comes back unlocked, and without its runs. If its project is gone, it comes back in the default project. `changes` lists what differs.',
    body: describeOptionalBody(recoverBody, { data: { attributes: { name: 'networking-2' } } }),
    events: ['WorkspaceRecovered', 'ProjectRecovered', 'VariableSetRecovered', 'RegistryProviderRecovered'],
    refusals: {
      conflict: 'The resource is not deleted, for example because somebody else has recovered it.',
      unprocessable: 'Another resource has the name now. Rename that one, or send another `name`.',
    },
  },
  purge: {
    summary: 'Remove a deleted resource for good',
    description: 'Its secrets and files are removed, and it cannot be recovered any more.',
    refusals: { conflict: 'The resource is not deleted, for example because somebody else has recovered it.' },
  },
});

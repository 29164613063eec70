import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  describeSettings,
  exampleText,
  parameter,
  principal,
  related,
  timestamp,
} from '#api/json-api/description';
import { DELETE_OLDERS, DONT_DELETES } from '#organizations/data-retention-policies';
import { WORKSPACE_SETTINGS } from '#workspaces/workspaces';
import { MAX_ACTOR_LENGTH, WorkspaceChangesController } from './workspace-changes.controller.js';

const id = z.string();
const ids = z.array(id);

const settings = describeSettings(WORKSPACE_SETTINGS.shape, [
  'inheritsProjectAutoDestroy',
  'settingOverwrites',
  'vcsRepo',
]);

/** The fields of a workspace whose changes the history shows, and their values. */
const FIELDS: Readonly<Record<string, z.ZodType>> = {
  locked: z.boolean(),
  ...settings,
  'inherits-project-auto-destroy': z.boolean(),
  'setting-overwrites': z.strictObject({ 'execution-mode': z.boolean(), 'agent-pool': z.boolean() }),
  'vcs-repo': z.strictObject({
    identifier: z.string(),
    branch: z.string(),
    'ingress-submodules': z.boolean(),
    'oauth-token-id': z.string().nullable(),
    'tags-regex': z.string().nullable(),
    'vcs-app-installation-id': z.string().nullable(),
  }),
  name: z.string(),
  project: id,
  'tag-bindings': z.array(z.strictObject({ key: z.string(), value: z.string() })),
  'locked-by': principal,
  'locked-reason': z.string(),
  'ssh-key': id,
  'data-retention-policy': z.strictObject({
    type: z.enum([DELETE_OLDERS, DONT_DELETES]),
    id,
    'delete-older-than-n-days': z.int().nullable(),
  }),
  'remote-state-consumers': ids,
  vars: ids,
  'current-state-version': id,
  'current-run': id,
  'current-configuration-version': id,
  'resource-count': z.int(),
};

const acceptNull = (schema: z.ZodType): z.ZodType => (schema instanceof z.ZodNullable ? schema : schema.nullable());

const values = Object.entries(FIELDS).map(([field, schema]) => ({ field, value: acceptNull(schema) }));

/** Fields with the same schema share a variant. */
const variants = [...Map.groupBy(values, ({ value }) => JSON.stringify(z.toJSONSchema(value))).values()].flatMap(
  (group) => {
    const [first] = group;
    if (!first) return [];
    const field = z.enum(group.map((each) => each.field));
    return [z.strictObject({ field, from: first.value, to: first.value })];
  },
);

const change = z.union(variants).meta({
  id: 'WorkspaceFieldChange',
  description:
    'The value of a field before and after a change, with the name of the attribute or relationship of the workspace. Null before the workspace was created, and where there is no value.',
  examples: [{ field: 'locked', from: false, to: true }],
});

/** The account or token that made a change; null for the server itself. */
export const relatedActor = () => related.one('users', 'teams', 'runs');

export const workspaceChangeSchema = defineResource({
  name: 'WorkspaceChange',
  type: 'workspace-changes',
  description: 'A change of a workspace.',
  noun: 'change',
  exampleId: '0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f',
  attributes: {
    event: exampleText('WorkspaceLocked', 'The type of the event.'),
    version: count('The version of the stream that the event belongs to.'),
    'created-at': timestamp(),
    'request-id': exampleText('0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f').nullable(),
    'actor-name': exampleText('ada', 'Null if you may not see the team.').nullable(),
    changes: z.array(change).meta({ description: 'The changed fields. Empty if the workspace was deleted.' }),
  },
  relationships: { actor: relatedActor(), workspace: related.always('workspaces') },
});

export const WORKSPACE_HISTORY = { name: 'Workspace history', description: 'Changes and locks of workspaces.' };

export const workspaceChangesOperations = describeController(
  WorkspaceChangesController,
  { ...WORKSPACE_HISTORY, resource: workspaceChangeSchema },
  {
    list: {
      description:
        'The newest change is first. The list leaves out fields that you may not read. It includes changes of a deleted workspace. Pages are shorter if the values are long.',
      query: {
        'filter[field]': parameter.list(
          'Only changes of any of these fields, by the name of the attribute or relationship.',
        ),
        'filter[actor]': parameter.list('Only changes of these accounts or tokens, by id or name.', {
          mostCharacters: MAX_ACTOR_LENGTH,
        }),
      },
    },
  },
);

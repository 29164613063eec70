import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeBody,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { createBody, rollbackBody } from './state-versions.body.js';
import { StateVersionsController } from './state-versions.controller.js';
import { STATE_VERSION_INCLUDES } from './state-versions.include.js';
import { STATE_VERSION_STATUSES } from './state-versions.queries.js';

const fileLink = (name: string, description: string) =>
  exampleText(`https://cadastre.example.com/api/v2/state-versions/${name}`)
    .nullable()
    .meta({ description, format: 'uri-reference' });

/** Numbers of resources by a name and the type of the resource. */
const resourceCounts = (name: string, type: string) =>
  z
    .record(z.string(), z.record(z.string(), z.int()))
    .nullable()
    .meta({ examples: [{ [name]: { [type]: 2 } }] });

const resourceBlock = z.strictObject({
  name: exampleText('public'),
  type: exampleText('aws_subnet'),
  count: count('The number of instances.'),
  module: exampleText('root'),
  provider: exampleText('provider["registry.terraform.io/hashicorp/aws"]'),
});

const links = {
  'hosted-state-download-url': fileLink(
    'sv-8cGx3VnLq5TbRz7M/download',
    'The address of the state, which needs a token. Null unless the state is uploaded.',
  ),
  'hosted-json-state-download-url': fileLink(
    'sv-8cGx3VnLq5TbRz7M/json-download',
    'The address of the JSON form of the state, which needs a token. Null unless it is uploaded.',
  ),
  'hosted-state-upload-url': fileLink(
    'upload/TOKEN',
    'A signed link for the state. Null unless the version waits for it and you may upload it.',
  ).meta({ examples: [null] }),
  'hosted-json-state-upload-url': fileLink(
    'upload/TOKEN',
    'A signed link for the JSON form of the state. Null unless the version waits for the state and you may upload it.',
  ).meta({ examples: [null] }),
};

export const stateVersionSchema = defineResource({
  name: 'StateVersion',
  type: 'state-versions',
  description: 'A version of the state of a workspace.',
  exampleId: 'sv-8cGx3VnLq5TbRz7M',
  attributes: {
    ...links,
    'created-at': timestamp(),
    intermediate: z.boolean().meta({ description: 'Whether it becomes current only when the workspace is unlocked.' }),
    modules: resourceCounts('root', 'aws-subnet'),
    providers: resourceCounts('provider["registry.terraform.io/hashicorp/aws"]', 'aws-subnet'),
    resources: z.array(resourceBlock).nullable().meta({
      description:
        'The resource blocks. Null if the state is not uploaded, or if the list is too long for the document.',
    }),
    'resources-processed': z.boolean().meta({ description: 'Whether the state is uploaded.', examples: [true] }),
    serial: z.int().min(0),
    size: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'The bytes of the state.', examples: [4096] }),
    'state-version': z
      .int()
      .min(1)
      .max(4)
      .nullable()
      .meta({ description: 'The version of the file format; null until the state is uploaded.', examples: [4] }),
    status: z.enum(STATE_VERSION_STATUSES).meta({ examples: ['finalized'] }),
    'terraform-version': exampleText('1.13.0').nullable(),
    'vcs-commit-sha': always(null),
    'vcs-commit-url': always(null),
  },
  relationships: {
    'created-by': related.always('users', 'teams', 'runs'),
    outputs: related.many('state-version-outputs'),
    'rollback-state-version': related.one('state-versions'),
    run: related.one('runs'),
    workspace: related.always('workspaces'),
  },
  hasSelfLink: true,
});

export const STATE_VERSIONS = {
  name: 'State versions',
  description: 'The states of workspaces, their files, their outputs and their resources.',
};

const group = {
  ...STATE_VERSIONS,
  resource: stateVersionSchema,
  include: {
    values: STATE_VERSION_INCLUDES,
    resources: ['ConfigurationVersion', 'Run', 'StateVersionOutput', 'Team', 'User'],
    events: ['StateVersionShown', 'ConfigurationVersionShown'],
  },
};

const list = {
  description: 'Newest first. The audit trail records the read.',
  query: {
    'filter[status]': parameter.text('Only versions with this status. Without it, the list has no discarded versions.'),
  },
};

const created = ['StateVersionCreated', 'StateVersionFinalized', 'StateVersionDiscarded'];

const LOCK_CONFLICT =
  'You do not hold the lock of the workspace, the serial is not above the latest one, or the lineage differs.';

export const stateVersionsOperations = describeController(StateVersionsController, group, {
  create: {
    description:
      'Lock the workspace first. Send the state in `state`, or upload it afterwards to `hosted-state-upload-url`, which is valid for a day. If a request repeats the latest version under the same lock, the answer is that version.',
    body: describeResourceBody(createBody, {
      serial: 1,
      md5: 'd41d8cd98f00b204e9800998ecf8427e',
      lineage: '871d1b4a-e579-fb7c-ffdb-f0c858a647a7',
    }),
    refusals: {
      conflict: LOCK_CONFLICT,
      'too-large': 'A state within the request is too large. Upload it to `hosted-state-upload-url` instead.',
      unprocessable: 'An attribute or the state is not valid, or the run does not exist.',
    },
    events: created,
  },
  rollBack: {
    operationId: 'rollBackState',
    summary: 'Roll back the state of a workspace',
    description:
      'Creates a state version with the state of an earlier one and the next serial. Lock the workspace first.',
    body: describeBody(rollbackBody, {
      data: {
        type: 'state-versions',
        relationships: { 'rollback-state-version': { data: { id: 'sv-8cGx3VnLq5TbRz7M' } } },
      },
    }),
    refusals: {
      conflict: 'You do not hold the lock of the workspace, or the state is encrypted by OpenTofu.',
      unprocessable: 'The earlier state version does not exist, or has no state.',
    },
    events: created,
  },
  list: {
    ...list,
    operationId: 'listStateVersionsByName',
    summary: 'List the state versions of a workspace by its name',
    query: {
      ...list.query,
      'filter[organization][name]': parameter.required('The name of the organization.'),
      'filter[workspace][name]': parameter.required('The name of the workspace.'),
    },
  },
  listOfWorkspace: { ...list, operationId: 'listStateVersions' },
  show: {},
  current: {
    operationId: 'getCurrentStateVersion',
    summary: 'Show the current state version of a workspace',
    refusals: { 'not-found': 'The workspace has no state, or you may not see the workspace.' },
  },
  softDelete: {
    operationId: 'softDeleteStateVersionData',
    summary: 'Delete the files of a state version with the option to restore them',
    refusals: { 'bad-request': 'The files are deleted already or not uploaded, or the state version is current.' },
  },
  restore: {
    operationId: 'restoreStateVersionData',
    summary: 'Restore the deleted files of a state version',
    refusals: { 'bad-request': 'The files are permanently deleted.' },
  },
  deletePermanently: {
    operationId: 'deleteStateVersionData',
    summary: 'Delete the files of a state version permanently',
    refusals: { 'bad-request': 'The files are not soft deleted.' },
  },
});

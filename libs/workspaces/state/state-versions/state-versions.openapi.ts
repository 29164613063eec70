import {
  describeBody,
  describeController,
  describeDocument,
  describePage,
  includeParameter,
  pageParameters,
  requiredParameter,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { createBody, rollbackBody } from './state-versions.body.js';
import { StateVersionsController } from './state-versions.controller.js';
import { STATE_VERSION_INCLUDES } from './state-versions.include.js';

export const STATE_VERSIONS = {
  name: 'State versions',
  description: 'The states of workspaces, their files, their outputs and their resources.',
};

/** Names of the resources that `include` can add. */
const included = ['ConfigurationVersion', 'Run', 'StateVersionOutput', 'Team', 'User'];

const include = includeParameter(STATE_VERSION_INCLUDES);

const list = {
  description: 'Newest first. The audit trail records the read.',
  answer: describePage('StateVersion', { included }),
  events: ['StateVersionsListed', 'StateVersionShown', 'ConfigurationVersionShown'],
} satisfies Partial<OperationDescription>;

const listQuery = {
  ...pageParameters(),
  ...include,
  'filter[status]': textParameter('Only versions with this status. Without it, the list has no discarded versions.'),
};

const show = {
  query: include,
  answer: describeDocument('StateVersion', { included }),
  events: ['StateVersionShown', 'ConfigurationVersionShown'],
} satisfies Partial<OperationDescription>;

const backingData = { answer: describeDocument('StateVersion') } satisfies Partial<OperationDescription>;

const LOCK_CONFLICT =
  'You do not hold the lock of the workspace, the serial is not above the latest one, or the lineage differs.';

export const stateVersionsOperations = describeController(StateVersionsController, STATE_VERSIONS, {
  create: {
    operationId: 'createStateVersion',
    summary: 'Create a state version',
    description:
      'Lock the workspace first. Send the state in `state`, or upload it afterwards to `hosted-state-upload-url`, which is valid for a day. If a request repeats the latest version under the same lock, the answer is that version.',
    body: describeBody(createBody, {
      data: {
        type: 'state-versions',
        attributes: {
          serial: 1,
          md5: 'd41d8cd98f00b204e9800998ecf8427e',
          lineage: '871d1b4a-e579-fb7c-ffdb-f0c858a647a7',
        },
      },
    }),
    answer: describeDocument('StateVersion'),
    refusals: {
      conflict: LOCK_CONFLICT,
      'too-large': 'A state within the request is too large. Upload it to `hosted-state-upload-url` instead.',
      unprocessable: 'An attribute or the state is not valid, or the run does not exist.',
    },
    events: ['StateVersionCreated', 'StateVersionFinalized', 'StateVersionDiscarded'],
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
    answer: describeDocument('StateVersion'),
    refusals: {
      conflict: 'You do not hold the lock of the workspace, or the state is encrypted by OpenTofu.',
      unprocessable: 'The earlier state version does not exist, or has no state.',
    },
    events: ['StateVersionCreated', 'StateVersionFinalized', 'StateVersionDiscarded'],
  },
  list: {
    ...list,
    operationId: 'listStateVersionsByName',
    summary: 'List the state versions of a workspace by its name',
    query: {
      ...listQuery,
      'filter[organization][name]': requiredParameter('The name of the organization.'),
      'filter[workspace][name]': requiredParameter('The name of the workspace.'),
    },
  },
  listOfWorkspace: {
    ...list,
    operationId: 'listStateVersions',
    summary: 'List the state versions of a workspace',
    query: listQuery,
  },
  show: { ...show, operationId: 'getStateVersion', summary: 'Show a state version' },
  current: {
    ...show,
    operationId: 'getCurrentStateVersion',
    summary: 'Show the current state version of a workspace',
    refusals: { 'not-found': 'The workspace has no state, or you may not see the workspace.' },
  },
  softDelete: {
    ...backingData,
    operationId: 'softDeleteStateVersionData',
    summary: 'Delete the files of a state version with the option to restore them',
    refusals: { 'bad-request': 'The files are deleted already or not uploaded, or the state version is current.' },
  },
  restore: {
    ...backingData,
    operationId: 'restoreStateVersionData',
    summary: 'Restore the deleted files of a state version',
    refusals: { 'bad-request': 'The files are permanently deleted.' },
  },
  deletePermanently: {
    ...backingData,
    operationId: 'deleteStateVersionData',
    summary: 'Delete the files of a state version permanently',
    refusals: { 'bad-request': 'The files are not soft deleted.' },
  },
});

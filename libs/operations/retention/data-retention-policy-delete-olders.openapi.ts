import { DELETE_OLDERS } from '#organizations/data-retention-policies';
import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  type OperationDescription,
} from '#api/json-api/description';
import { policyBody } from './data-retention-policies.body.js';
import { DataRetentionPolicyDeleteOldersController } from './data-retention-policy-delete-olders.controller.js';

const DATA_RETENTION_POLICIES = {
  name: 'Data retention policies',
  description: 'Rules that delete the backing data of old state versions and configuration versions.',
};

const RESOURCES = ['DataRetentionPolicyDeleteOlder', 'DataRetentionPolicyDontDelete'];

const show = {
  answer: describeDocument(RESOURCES),
  refusals: { 'not-found': 'There is no policy, or you may not see the owner.' },
} satisfies Partial<OperationDescription>;

const set = {
  description:
    'The type determines whether the policy deletes data after the number of days, or nothing. POST and PATCH do the same.',
  body: describeBody(policyBody, { data: { type: DELETE_OLDERS, attributes: { 'delete-older-than-n-days': 30 } } }),
  answer: describeDocument([...RESOURCES, 'DataRetentionPolicy']),
  refusals: {
    unprocessable: 'The number of days is missing, is not valid, or is sent with a type that deletes nothing.',
  },
  events: ['DataRetentionPolicySet', 'DataRetentionPolicyChanged'],
} satisfies Partial<OperationDescription>;

const remove = { answer: describeEmpty() } satisfies Partial<OperationDescription>;

export const dataRetentionPoliciesOperations = describeController(
  DataRetentionPolicyDeleteOldersController,
  DATA_RETENTION_POLICIES,
  {
    showOfWorkspace: {
      ...show,
      operationId: 'getWorkspaceDataRetentionPolicy',
      summary: 'Show the effective data retention policy of a workspace',
    },
    showOfOrganization: {
      ...show,
      operationId: 'getOrganizationDataRetentionPolicy',
      summary: 'Show the data retention policy of an organization',
    },
    setOfWorkspace: {
      ...set,
      operationId: 'setWorkspaceDataRetentionPolicy',
      summary: 'Set the data retention policy of a workspace',
    },
    setOfOrganization: {
      ...set,
      operationId: 'setOrganizationDataRetentionPolicy',
      summary: 'Set the data retention policy of an organization',
    },
    updateOfWorkspace: {
      ...set,
      operationId: 'updateWorkspaceDataRetentionPolicy',
      summary: 'Set or change the data retention policy of a workspace',
    },
    updateOfOrganization: {
      ...set,
      operationId: 'updateOrganizationDataRetentionPolicy',
      summary: 'Set or change the data retention policy of an organization',
    },
    removeOfWorkspace: {
      ...remove,
      operationId: 'deleteWorkspaceDataRetentionPolicy',
      summary: 'Remove the data retention policy of a workspace',
    },
    removeOfOrganization: {
      ...remove,
      operationId: 'deleteOrganizationDataRetentionPolicy',
      summary: 'Remove the data retention policy of an organization',
    },
  },
);

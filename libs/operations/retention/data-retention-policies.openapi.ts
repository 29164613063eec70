import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeDocument,
  describeResourceBody,
  type OperationDescription,
  related,
} from '#api/json-api/description';
import { DELETE_OLDERS, DONT_DELETES } from '#organizations/data-retention-policies';
import {
  FIRST_TYPE,
  policyBody,
  DataRetentionPolicyDeleteOldersController,
} from './data-retention-policy-delete-olders.controller.js';

const exampleId = 'drp-5tYcQ8mZx2KbW7Vn';

const relationships = {
  target: related.always('organizations', 'workspaces').meta({
    description: 'The owner: the workspace, or its organization if the workspace has no policy of its own.',
  }),
};

const days = {
  'delete-older-than-n-days': z
    .int()
    .min(1)
    .meta({ description: 'The age in days after which data is deleted.', examples: [30] }),
};

export const deleteOlderPolicySchema = defineResource({
  name: 'DataRetentionPolicyDeleteOlder',
  type: DELETE_OLDERS,
  description: 'A policy that deletes the backing data of old versions, and the logs and documents of old runs.',
  exampleId,
  attributes: days,
  relationships,
});

export const dontDeletePolicySchema = defineResource({
  name: 'DataRetentionPolicyDontDelete',
  type: DONT_DELETES,
  description: 'A policy that deletes nothing.',
  exampleId,
  attributes: {},
  relationships,
});

export const firstPolicySchema = defineResource({
  name: 'DataRetentionPolicy',
  type: FIRST_TYPE,
  description:
    'A policy that deletes old data, with the type of earlier clients. Only answers to their requests have it.',
  exampleId,
  attributes: days,
  relationships,
});

const DATA_RETENTION_POLICIES = {
  name: 'Data retention policies',
  description:
    'Rules that delete the backing data of old state versions and configuration versions, and the logs and documents of old runs.',
  idName: 'DataRetentionPolicy',
};

const RESOURCES = ['DataRetentionPolicyDeleteOlder', 'DataRetentionPolicyDontDelete'];

const show = {
  answer: describeDocument(RESOURCES),
  refusals: { 'not-found': 'There is no policy, or you may not see the owner.' },
} satisfies OperationDescription;

const set = {
  description:
    'The type determines whether the policy deletes data after the number of days, or nothing. POST and PATCH do the same.',
  body: describeResourceBody(policyBody, { 'delete-older-than-n-days': 30 }),
  answer: describeDocument([...RESOURCES, 'DataRetentionPolicy']),
  refusals: {
    unprocessable: 'The number of days is missing, is not valid, or is sent with a type that deletes nothing.',
  },
  events: ['DataRetentionPolicySet', 'DataRetentionPolicyChanged'],
} satisfies OperationDescription;

export const dataRetentionPoliciesOperations = describeController(
  DataRetentionPolicyDeleteOldersController,
  DATA_RETENTION_POLICIES,
  {
    showOfWorkspace: { ...show, summary: 'Show the effective data retention policy of a workspace' },
    showOfOrganization: { ...show, summary: 'Show the data retention policy of an organization' },
    setOfWorkspace: { ...set, summary: 'Set the data retention policy of a workspace' },
    setOfOrganization: { ...set, summary: 'Set the data retention policy of an organization' },
    updateOfWorkspace: { ...set, summary: 'Set or change the data retention policy of a workspace' },
    updateOfOrganization: { ...set, summary: 'Set or change the data retention policy of an organization' },
    destroyOfWorkspace: { summary: 'Remove the data retention policy of a workspace' },
    destroyOfOrganization: { summary: 'Remove the data retention policy of an organization' },
  },
);

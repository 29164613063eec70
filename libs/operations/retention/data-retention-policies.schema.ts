import { z } from 'zod';
import { DELETE_OLDERS, DONT_DELETES } from '#organizations/data-retention-policies';
import { defineResource, relatedAlways } from '#api/json-api/description';
import { FIRST_TYPE } from './data-retention-policies.body.js';

const exampleId = 'drp-5tYcQ8mZx2KbW7Vn';

const relationships = {
  target: relatedAlways('organizations', 'workspaces').meta({
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
  description: 'A policy that deletes the backing data of old versions.',
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

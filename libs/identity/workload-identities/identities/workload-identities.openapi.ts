import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { createBody, updateBody } from './workload-identities.body.js';
import { WorkloadIdentitiesController } from './workload-identities.controller.js';

const WORKLOAD_IDENTITIES = {
  name: 'Workload identities',
  description: 'Pipelines of CI systems that get short-lived tokens of a team without a stored secret.',
};

const refusals = {
  unprocessable:
    'An attribute is not valid, the name is taken in the team, the claims accept everybody, or the team has the largest number of identities.',
};

export const workloadIdentitiesOperations = describeController(WorkloadIdentitiesController, WORKLOAD_IDENTITIES, {
  list: {
    operationId: 'listWorkloadIdentities',
    summary: 'List the workload identities of a team',
    query: pageParameters(),
    answer: describePage('WorkloadIdentity'),
  },
  create: {
    operationId: 'createWorkloadIdentity',
    summary: 'Create a workload identity of a team',
    description:
      'Pipelines whose tokens match get tokens of the team (`POST /oauth/token`). The claims must name the owner of the pipelines, because everybody can get a token of a public issuer.',
    body: describeBody(createBody, {
      data: {
        type: 'workload-identities',
        attributes: {
          name: 'main-branch',
          issuer: 'https://token.actions.githubusercontent.com',
          claims: { sub: ['repo:acme/app:ref:refs/heads/main'] },
        },
      },
    }),
    answer: describeDocument('WorkloadIdentity'),
    refusals,
  },
  show: {
    operationId: 'getWorkloadIdentity',
    summary: 'Show a workload identity',
    answer: describeDocument('WorkloadIdentity'),
  },
  update: {
    operationId: 'updateWorkloadIdentity',
    summary: 'Change a workload identity',
    description:
      'The attribute `claims` replaces all claims. If `enabled` becomes false, the tokens that the identity has issued end at once.',
    body: describeBody(updateBody, { data: { type: 'workload-identities', attributes: { 'token-minutes': 15 } } }),
    answer: describeDocument('WorkloadIdentity'),
    refusals,
    events: ['WorkloadIdentityUpdated', 'AuthenticationTokenDestroyed'],
  },
  destroy: {
    operationId: 'deleteWorkloadIdentity',
    summary: 'Delete a workload identity',
    description: 'The tokens that it has issued end at once.',
    answer: describeEmpty(),
    events: ['WorkloadIdentityDeleted', 'AuthenticationTokenDestroyed'],
  },
});

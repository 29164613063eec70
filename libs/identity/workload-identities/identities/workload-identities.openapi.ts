import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  related,
  timestamp,
} from '#api/json-api/description';
import { createBody, updateBody, WorkloadIdentitiesController } from './workload-identities.controller.js';
import { TOKEN_MINUTES } from './workload-identity.js';

export const workloadIdentitySchema = defineResource({
  name: 'WorkloadIdentity',
  type: 'workload-identities',
  description: 'Lets pipelines of a CI system get short-lived tokens of a team.',
  exampleId: 'wid-3kTq8VnYd5RbXpLw',
  attributes: {
    name: exampleText('main-branch'),
    description: exampleText('deploys from the main branch').nullable(),
    issuer: exampleText('https://token.actions.githubusercontent.com', 'The claim `iss` of the tokens.'),
    audience: exampleText('https://cadastre.example.com', 'A value that the claim `aud` of the tokens contains.'),
    claims: z.record(z.string(), z.array(z.string())).meta({
      description:
        'Accepted values by the name of the claim. A token needs an accepted value for each of these claims. ' +
        'In a value, `*` stands for any characters.',
      examples: [{ sub: ['repo:acme/app:ref:refs/heads/main'] }],
    }),
    'token-minutes': z
      .int()
      .min(TOKEN_MINUTES.least)
      .max(TOKEN_MINUTES.most)
      .meta({ description: 'How long an issued token lives, in minutes.', examples: [TOKEN_MINUTES.initial] }),
    enabled: z.boolean().meta({ description: 'If false, no tokens are issued.', examples: [true] }),
    'created-at': timestamp(),
  },
  relationships: { team: related.always('teams') },
  hasSelfLink: true,
});

const WORKLOAD_IDENTITIES = {
  name: 'Workload identities',
  description: 'Pipelines of CI systems that get short-lived tokens of a team without a stored secret.',
  resource: workloadIdentitySchema,
};

const refusals = {
  unprocessable:
    'An attribute is not valid, the name is taken in the team, the claims accept everybody, or the team has the largest number of identities.',
};

export const workloadIdentitiesOperations = describeController(WorkloadIdentitiesController, WORKLOAD_IDENTITIES, {
  list: {},
  create: {
    summary: 'Create a workload identity of a team',
    description:
      'Pipelines whose tokens match get tokens of the team (`POST /oauth/token`). The claims must name the owner of the pipelines, because everybody can get a token of a public issuer.',
    body: describeResourceBody(createBody, {
      name: 'main-branch',
      issuer: 'https://token.actions.githubusercontent.com',
      claims: { sub: ['repo:acme/app:ref:refs/heads/main'] },
    }),
    refusals,
  },
  show: {},
  update: {
    description:
      'The attribute `claims` replaces all claims. If `enabled` becomes false, the tokens that the identity has issued end at once.',
    body: describeResourceBody(updateBody, { 'token-minutes': 15 }),
    refusals,
    events: ['WorkloadIdentityUpdated', 'AuthenticationTokenDestroyed'],
  },
  destroy: {
    description: 'The tokens that it has issued end at once.',
    events: ['WorkloadIdentityDeleted', 'AuthenticationTokenDestroyed'],
  },
});

import { defineResource, describeController, describeResourceBody, exampleText } from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { identityTokenBody, RunIdentityTokensController } from './run-identity-tokens.controller.js';

export const runIdentityTokenSchema = defineResource({
  name: 'RunIdentityToken',
  type: 'run-identity-tokens',
  description: 'A JSON Web Token with which a phase of a run authenticates at a cloud. It has the id of the run.',
  exampleId: 'run-6mKd9TzPq3XvLcB8',
  attributes: {
    audience: exampleText('aws.workload.identity'),
    token: exampleText('eyJhbGciOiJSUzI1NiIs…', 'Valid as long as the phase may take. The server stores no copy.'),
  },
});

export const runIdentityTokensOperations = describeController(
  RunIdentityTokensController,
  { ...RUNS, resource: runIdentityTokenSchema },
  {
    create: {
      operationId: 'issueRunIdentityToken',
      summary: 'Issue a token with which a phase of a run authenticates at a cloud',
      description:
        'For executors, with the token of the pool, after a claim. `/.well-known/openid-configuration` describes the issuer.',
      body: describeResourceBody(identityTokenBody, { fence: 1, audience: 'aws.workload.identity' }),
      refusals: { conflict: 'The fence is not that of the newest claim.' },
      events: ['RunIdentityTokenIssued'],
    },
  },
);

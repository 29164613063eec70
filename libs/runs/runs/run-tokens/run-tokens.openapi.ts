import { describeController, describeDocument } from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { RunTokensController } from './run-tokens.controller.js';

export const runTokensOperations = describeController(RunTokensController, RUNS, {
  create: {
    operationId: 'createRunToken',
    summary: 'Create a token for a run',
    description:
      'For executors, with the token of an agent pool. The new token has the permissions that the run needs. It expires after 24 hours, or when the run ends.',
    answer: describeDocument('AuthenticationToken'),
    refusals: { conflict: 'The run has ended.' },
  },
});

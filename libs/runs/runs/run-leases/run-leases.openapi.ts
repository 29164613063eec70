import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeDocument,
  describeOptionalBody,
  describeResourceBody,
  exampleText,
  related,
  timestamp,
} from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { claimBody, renewalBody, RunLeasesController } from './run-leases.controller.js';
import { PHASES } from '../runs/run-leases.queries.js';

export const runLeaseSchema = defineResource({
  name: 'RunLease',
  type: 'run-leases',
  description:
    'The claim of an executor on the plan or the apply of a run. It has the id of the run, and ends when the executor reports the end of the phase, or does not renew it.',
  exampleId: 'run-6mKd9TzPq3XvLcB8',
  attributes: {
    'canceled-at': timestamp('The time at which a user has asked the executor to stop.').nullable(),
    'expires-at': timestamp(),
    fence: z.int().meta({ description: 'Grows with each claim of the run. Reports must have it.', examples: [1] }),
    'organization-name': exampleText('acme'),
    phase: z.enum(PHASES),
    'workspace-name': exampleText('network'),
  },
  relationships: {
    agent: related.always('agents'),
    run: related.always('runs'),
    workspace: related.always('workspaces'),
  },
});

export const runLeasesOperations = describeController(
  RunLeasesController,
  { ...RUNS, resource: runLeaseSchema },
  {
    list: {
      operationId: 'listPoolRunLeases',
      summary: 'List what the executors of a pool work on',
      description: 'Only the runs that the caller may read.',
    },
    claim: {
      operationId: 'claimRun',
      summary: 'Claim the next run that waits for an agent',
      description:
        'For executors, with the token of the pool. The server waits up to `wait-seconds` for a run. Applies come first, then plans that may be applied, then others.',
      body: describeOptionalBody(claimBody, {
        data: { type: 'agents', attributes: { phases: ['plan', 'apply'], 'wait-seconds': 20 } },
      }),
      answer: describeDocument('RunLease', {
        included: ['Run'],
        isNullable: true,
        description: 'The lease, or null if no run waits for the pool of the agent.',
      }),
      events: ['RunPlanStarted', 'RunApplyStarted'],
    },
    renew: {
      operationId: 'renewRunLease',
      summary: 'Renew the lease of a run',
      description:
        'For executors, with the token of the pool. The server answers after `wait-seconds`, or as soon as a user cancels the run.',
      body: describeResourceBody(renewalBody, { fence: 1, 'wait-seconds': 15 }),
      answer: describeDocument('RunLease', {
        isNullable: true,
        description: 'The lease, or null if it has ended while the request waited.',
      }),
      refusals: { conflict: 'The lease has ended: another executor may have claimed the run.' },
      events: [],
    },
  },
);

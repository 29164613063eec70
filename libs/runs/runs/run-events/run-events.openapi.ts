import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeList,
  exampleText,
  related,
  timestamp,
} from '#api/json-api/description';
import { INCLUDES, RunEventsController } from './run-events.controller.js';

export const runEventSchema = defineResource({
  name: 'RunEvent',
  type: 'run-events',
  description: 'An entry of the history of a run, for people.',
  noun: 'event of a run',
  exampleId: 're-0193a1b2c3d47e5f8a6b9c0d1e2f3a4b',
  attributes: {
    action: exampleText(
      'created',
      'A status of the run, or `created`, `queued`, `cancel_requested`, `force_executed` or `commented`.',
    ),
    'created-at': timestamp(),
    description: z
      .string()
      .nullable()
      .meta({ description: 'The message of the caller or of the executor.', examples: ['Upgrade the provider'] }),
  },
  relationships: {
    actor: related.always('users'),
    comment: related.one('comments'),
    run: related.always('runs'),
  },
  hasSelfLink: true,
});

const include = { values: INCLUDES, resources: ['Comment', 'User'] };

const RUN_EVENTS = {
  name: 'Run events',
  description: 'The history of a run, for people.',
  resource: runEventSchema,
  include,
};

export const runEventsOperations = describeController(RunEventsController, RUN_EVENTS, {
  list: {
    description: 'The list has all events, oldest first.',
    include,
    answer: describeList('RunEvent', { included: include.resources }),
  },
  show: {},
});

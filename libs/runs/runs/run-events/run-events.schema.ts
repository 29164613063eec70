import { z } from 'zod';
import {
  defineResource,
  exampleText,
  relatedAlways,
  relatedOne,
  serverPath,
  timestamp,
} from '#api/json-api/description';

export const runEventSchema = defineResource({
  name: 'RunEvent',
  type: 'run-events',
  description: 'An entry of the history of a run, for people.',
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
    actor: relatedAlways('users'),
    comment: relatedOne('comments'),
    run: relatedAlways('runs'),
  },
  links: { self: serverPath('/api/v2/run-events/re-0193a1b2c3d47e5f8a6b9c0d1e2f3a4b') },
});

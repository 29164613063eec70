import { z } from 'zod';
import { defineResource, exampleText, relatedAlways, relatedOne, timestamp } from '#json-api/description';

export const authenticationTokenSchema = defineResource({
  name: 'AuthenticationToken',
  type: 'authentication-tokens',
  description: 'A token that authenticates requests of a user, team, organization, agent pool or run.',
  exampleId: 'at-6bLq9TzNw4XcVk2R',
  attributes: {
    'created-at': timestamp(),
    'last-used-at': timestamp()
      .nullable()
      .meta({ examples: [null] }),
    description: exampleText('CI').nullable(),
    token: z
      .string()
      .nullable()
      .meta({
        description: 'The token itself. Only the response that creates the token contains it.',
        examples: [null],
      }),
    'expired-at': timestamp('When the token expires. Null if it never expires.').nullable(),
  },
  relationships: {
    'created-by': relatedOne('users', 'teams', 'organizations', 'agent-pools', 'workload-identities'),
    team: relatedAlways('teams').optional().meta({ description: 'Only tokens of teams have it.' }),
  },
});

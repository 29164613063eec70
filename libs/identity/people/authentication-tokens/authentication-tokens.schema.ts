import { z } from 'zod';
import { TOKEN_ACCESS } from '#api/access';
import { defineResource, exampleText, relatedAlways, relatedOne, timestamp } from '#api/json-api/description';

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
    access: z
      .enum(TOKEN_ACCESS)
      .optional()
      .meta({
        description:
          'What the token may do at most: everything that its owner may do, read it, or read audit trails only. Only tokens of users have it.',
        examples: ['full'],
      }),
  },
  relationships: {
    'created-by': relatedOne('users', 'teams', 'organizations', 'agent-pools', 'workload-identities'),
    organization: relatedOne('organizations').optional().meta({
      description:
        'The only organization in which the token has access. Null for all organizations of its owner. Only tokens of users have it.',
    }),
    team: relatedAlways('teams').optional().meta({ description: 'Only tokens of teams have it.' }),
  },
});

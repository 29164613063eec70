import { z } from 'zod';
import { defineResource, exampleText, relatedAlways, serverPath, timestamp } from '#api/json-api/description';
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
  relationships: { team: relatedAlways('teams') },
  links: { self: serverPath('/api/v2/workload-identities/wid-3kTq8VnYd5RbXpLw') },
});

import { z } from 'zod';
import { defineResource, describeController, exampleText, parameter } from '#api/json-api/description';
import { GIT_REPOSITORIES } from './authorized-repos.openapi.js';
import { VcsRepoCheckController } from './vcs-repo-check.controller.js';

export const vcsRepoCheckSchema = defineResource({
  name: 'VcsRepoCheck',
  type: 'vcs-repo-check',
  noun: 'check of a repository',
  description: 'Whether a repository of a Git host exists for the account of a connection.',
  exampleId: 'acme/network',
  attributes: { exists: z.boolean().meta({ examples: [true] }), identifier: exampleText('acme/network') },
});

export const vcsRepoCheckOperations = describeController(
  VcsRepoCheckController,
  { ...GIT_REPOSITORIES, resource: vcsRepoCheckSchema },
  {
    show: {
      summary: 'Check that a repository exists',
      query: {
        oauth_token_id: parameter.required('Id of the OAuth token.'),
        identifier: parameter.required('Owner and name of the repository.'),
      },
      refusals: { unprocessable: 'The Git host refuses the token.' },
    },
  },
);

import { z } from 'zod';
import { defineResource, describeController, parameter } from '#api/json-api/description';
import { GIT_REPOSITORIES } from './authorized-repos.openapi.js';
import { VcsTreeController } from './vcs-tree.controller.js';

export const vcsTreeSchema = defineResource({
  name: 'VcsTree',
  type: 'vcs-tree',
  noun: 'tree of a branch',
  description: 'The paths of the folders of a branch.',
  exampleId: 'acme/network',
  attributes: { folders: z.array(z.string()).meta({ examples: [['modules', 'modules/vpc']] }) },
});

export const vcsTreeOperations = describeController(
  VcsTreeController,
  { ...GIT_REPOSITORIES, resource: vcsTreeSchema },
  {
    show: {
      summary: 'List the folders of a branch',
      query: {
        oauth_token_id: parameter.required('Id of the OAuth token.'),
        identifier: parameter.required('Owner and name of the repository.'),
        branch: parameter.text('The branch. Default: the default branch of the repository.'),
      },
      refusals: { unprocessable: 'The Git host refuses the token.' },
    },
  },
);

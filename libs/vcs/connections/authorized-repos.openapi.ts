import { defineResource, describeController, exampleText, parameter } from '#api/json-api/description';
import { AuthorizedReposController } from './authorized-repos.controller.js';

export const authorizedRepoSchema = defineResource({
  name: 'AuthorizedRepo',
  type: 'authorized-repos',
  noun: 'repository of a Git host',
  description: 'A repository of a Git host that the account of a connection can read.',
  exampleId: 'acme/network',
  attributes: { 'display-identifier': exampleText('acme/network'), name: exampleText('network') },
});

export const GIT_REPOSITORIES = {
  name: 'Repositories of Git hosts',
  description: 'Repositories of the Git hosts that organizations are connected to.',
};

export const authorizedReposOperations = describeController(
  AuthorizedReposController,
  { ...GIT_REPOSITORIES, resource: authorizedRepoSchema },
  {
    list: {
      summary: 'List the repositories of a Git host',
      query: { q: parameter.text('Only repositories with this text in their name.') },
      refusals: { unprocessable: 'The Git host refuses the token.' },
    },
  },
);

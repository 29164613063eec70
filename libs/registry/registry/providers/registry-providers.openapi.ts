import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describeList,
  describePage,
  includeParameter,
  pageParameters,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { createBody, INCLUDES, RegistryProvidersController, updateBody } from './registry-providers.controller.js';

const PROVIDERS = {
  name: 'Providers',
  description: 'Private and public providers in the registry of an organization.',
};

/** Path parameters of a provider and of its versions and platforms. */
export const providerPath = {
  registryName: { description: '`private` or `public`.', example: 'private' },
  namespace: {
    description: 'The name of the organization, or of the owner of a public provider.',
    example: 'acme',
  },
  name: { description: 'The name of the provider.', example: 'aws' },
};

const INCLUDED = ['RegistryProviderVersion'];

const CURATION = 'You lack the permission, or the curation of public providers is disabled.';

const document = {
  answer: describeDocument('RegistryProvider'),
  refusals: { forbidden: CURATION },
} satisfies Partial<OperationDescription>;

const read = {
  ...document,
  query: includeParameter(INCLUDES),
  answer: describeDocument('RegistryProvider', { included: INCLUDED }),
} satisfies Partial<OperationDescription>;

export const registryProvidersOperations = describeController(RegistryProvidersController, PROVIDERS, {
  list: {
    operationId: 'listRegistryProviders',
    summary: 'List the providers of an organization',
    query: {
      ...pageParameters(),
      ...includeParameter(INCLUDES),
      q: textParameter('Only providers with this text in their name, ignoring case.'),
      'filter[registry_name]': textParameter('Only providers of this registry: `private` or `public`.'),
      'filter[organization_name]': textParameter('Only providers of the organization with this name.'),
    },
    answer: describePage('RegistryProvider', { included: INCLUDED }),
  },
  create: {
    ...document,
    operationId: 'createRegistryProvider',
    summary: 'Create a provider',
    description: 'The namespace of a private provider is the name of the organization.',
    body: describeBody(createBody, {
      data: {
        type: 'registry-providers',
        attributes: { name: 'aws', namespace: 'acme', 'registry-name': 'private' },
      },
    }),
    refusals: {
      ...document.refusals,
      unprocessable: 'A name is not valid, or the organization has a provider with these names.',
    },
  },
  showByPath: {
    ...read,
    operationId: 'getRegistryProviderByName',
    summary: 'Show a provider by its name',
    path: providerPath,
  },
  show: { ...read, operationId: 'getRegistryProvider', summary: 'Show a provider' },
  update: {
    ...document,
    operationId: 'updateRegistryProvider',
    summary: 'Replace the tags of a provider',
    description: 'Nothing else of a provider can change.',
    path: providerPath,
    body: describeBody(updateBody, {
      data: {
        type: 'registry-providers',
        relationships: {
          'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
        },
      },
    }),
  },
  tagBindings: {
    operationId: 'listRegistryProviderTagBindings',
    summary: 'List the tags of a provider',
    answer: describeList('RegistryProviderTagBinding'),
    refusals: document.refusals,
  },
  destroy: {
    operationId: 'deleteRegistryProvider',
    summary: 'Delete a provider with its versions',
    path: providerPath,
    answer: describeEmpty(),
    refusals: document.refusals,
  },
});

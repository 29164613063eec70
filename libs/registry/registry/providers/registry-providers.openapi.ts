import { z } from 'zod';
import {
  defineResource,
  describeBody,
  describeController,
  describeList,
  describeResourceBody,
  exampleText,
  parameter,
  permissionFlags,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { createBody, INCLUDES, RegistryProvidersController, updateBody } from './registry-providers.controller.js';

export const registryProviderSchema = defineResource({
  name: 'RegistryProvider',
  type: 'registry-providers',
  description:
    'A private provider with its versions, or the name of a public provider that the organization recommends.',
  noun: 'provider',
  exampleId: 'prov-2hYv8QxKb5NwTd7L',
  attributes: {
    name: exampleText('aws'),
    namespace: exampleText('acme', 'Of a private provider: the name of the organization.'),
    'registry-name': z.enum(['private', 'public']),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    permissions: permissionFlags('can-delete'),
  },
  relationships: {
    organization: related.always('organizations'),
    'registry-provider-versions': related.many('registry-provider-versions'),
    'tag-bindings': related.many('tag-bindings'),
  },
  links: { self: serverPath('/api/v2/organizations/acme/registry-providers/private/acme/aws') },
});

export const registryProviderTagBindingSchema = defineResource({
  name: 'RegistryProviderTagBinding',
  type: 'tag-bindings',
  description: 'A tag of a provider.',
  exampleId: 'tb-0a1b2c3d4e5f6a7b',
  attributes: { key: exampleText('env'), value: exampleText('prod', 'An empty text for a tag without a value.') },
});

/** Path parameters of a provider and of its versions and platforms. */
export const providerPath = {
  registryName: { description: '`private` or `public`.', example: 'private' },
  namespace: { description: 'The name of the organization, or of the owner of a public provider.', example: 'acme' },
  name: { description: 'The name of the provider.', example: 'aws' },
};

const PROVIDERS = {
  name: 'Providers',
  description: 'Private and public providers in the registry of an organization.',
  resource: registryProviderSchema,
  include: { values: INCLUDES, resources: ['RegistryProviderVersion'] },
  path: providerPath,
};

const curation = { forbidden: 'You lack the permission, or the curation of public providers is disabled.' };

export const registryProvidersOperations = describeController(RegistryProvidersController, PROVIDERS, {
  list: {
    query: {
      q: parameter.text('Only providers with this text in their name, ignoring case.'),
      'filter[registry_name]': parameter.text('Only providers of this registry: `private` or `public`.'),
      'filter[organization_name]': parameter.text('Only providers of the organization with this name.'),
    },
  },
  create: {
    description: 'The namespace of a private provider is the name of the organization.',
    body: describeResourceBody(createBody, { name: 'aws', namespace: 'acme', 'registry-name': 'private' }),
    refusals: {
      ...curation,
      unprocessable: 'A name is not valid, or the organization has a provider with these names.',
    },
  },
  showByPath: {
    operationId: 'getRegistryProviderByName',
    summary: 'Show a provider by its name',
    refusals: curation,
  },
  show: { refusals: curation },
  update: {
    summary: 'Replace the tags of a provider',
    description: 'Nothing else of a provider can change.',
    body: describeBody(updateBody, {
      data: {
        type: 'registry-providers',
        relationships: {
          'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
        },
      },
    }),
    refusals: curation,
  },
  tagBindings: {
    operationId: 'listRegistryProviderTagBindings',
    summary: 'List the tags of a provider',
    answer: describeList('RegistryProviderTagBinding'),
    refusals: curation,
  },
  destroy: { summary: 'Delete a provider with its versions', refusals: curation },
});

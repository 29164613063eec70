import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { providerPath } from '../providers/registry-providers.openapi.js';
import { createBody, RegistryProviderVersionsController } from './registry-provider-versions.controller.js';

export const PROVIDER_VERSIONS = {
  name: 'Provider versions',
  description: 'Versions and platforms of private providers, and the uploads of their files.',
};

export const versionPath = { ...providerPath, version: { description: 'The version.', example: '1.4.0' } };

/** Public providers have no versions here. */
export const privateOnly = { forbidden: 'You lack the permission, or the provider is public.' };

export const registryProviderVersionsOperations = describeController(
  RegistryProviderVersionsController,
  PROVIDER_VERSIONS,
  {
    list: {
      operationId: 'listRegistryProviderVersions',
      summary: 'List the versions of a private provider',
      path: providerPath,
      query: pageParameters(),
      answer: describePage('RegistryProviderVersion'),
      refusals: privateOnly,
    },
    create: {
      operationId: 'createRegistryProviderVersion',
      summary: 'Create a version of a private provider',
      description:
        'Then upload SHA256SUMS and its signature to the links of the answer, and create the platforms. The version is published when its last file is uploaded.',
      path: providerPath,
      body: describeBody(createBody, {
        data: {
          type: 'registry-provider-versions',
          attributes: { version: '1.4.0', 'key-id': '34365D9472D7468F', protocols: ['5.0'] },
        },
      }),
      answer: describeDocument('RegistryProviderVersion'),
      refusals: { ...privateOnly, unprocessable: 'An attribute is not valid, or the provider has this version.' },
    },
    show: {
      operationId: 'getRegistryProviderVersion',
      summary: 'Show a version of a private provider',
      path: versionPath,
      answer: describeDocument('RegistryProviderVersion'),
      refusals: privateOnly,
    },
    destroy: {
      operationId: 'deleteRegistryProviderVersion',
      summary: 'Delete a version of a private provider with its files',
      path: versionPath,
      answer: describeEmpty(),
      refusals: privateOnly,
    },
  },
);

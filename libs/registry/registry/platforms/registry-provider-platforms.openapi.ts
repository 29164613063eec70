import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { privateOnly, PROVIDER_VERSIONS, versionPath } from '../versions/registry-provider-versions.openapi.js';
import { createBody, RegistryProviderPlatformsController } from './registry-provider-platforms.controller.js';

const platformPath = {
  ...versionPath,
  os: { description: 'The operating system.', example: 'linux' },
  arch: { description: 'The architecture.', example: 'amd64' },
};

export const registryProviderPlatformsOperations = describeController(
  RegistryProviderPlatformsController,
  PROVIDER_VERSIONS,
  {
    list: {
      operationId: 'listRegistryProviderPlatforms',
      summary: 'List the platforms of a provider version',
      path: versionPath,
      query: pageParameters(),
      answer: describePage('RegistryProviderPlatform'),
      refusals: privateOnly,
    },
    create: {
      operationId: 'createRegistryProviderPlatform',
      summary: 'Create a platform of a provider version',
      description: 'Then upload the zip to the link of the answer.',
      path: versionPath,
      body: describeBody(createBody, {
        data: {
          type: 'registry-provider-platforms',
          attributes: {
            os: 'linux',
            arch: 'amd64',
            filename: 'terraform-provider-aws_1.4.0_linux_amd64.zip',
            shasum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          },
        },
      }),
      answer: describeDocument('RegistryProviderPlatform'),
      refusals: {
        ...privateOnly,
        unprocessable:
          'An attribute is not valid, SHA256SUMS has another checksum of the file, or the version has this platform.',
      },
    },
    show: {
      operationId: 'getRegistryProviderPlatform',
      summary: 'Show a platform of a provider version',
      path: platformPath,
      answer: describeDocument('RegistryProviderPlatform'),
      refusals: privateOnly,
    },
    destroy: {
      operationId: 'deleteRegistryProviderPlatform',
      summary: 'Delete a platform of a provider version with its zip',
      description: 'If only the zip of this platform is missing, the version is published.',
      path: platformPath,
      answer: describeEmpty(),
      refusals: privateOnly,
      events: ['RegistryProviderPlatformDeleted', 'RegistryProviderVersionPublished'],
    },
  },
);

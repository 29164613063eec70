import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  permissionFlags,
  related,
  serverPath,
} from '#api/json-api/description';
import {
  downloadLink,
  privateOnly,
  PROVIDER_VERSIONS,
  uploadLink,
  versionPath,
} from '../versions/registry-provider-versions.openapi.js';
import { createBody, RegistryProviderPlatformsController } from './registry-provider-platforms.controller.js';

export const registryProviderPlatformSchema = defineResource({
  name: 'RegistryProviderPlatform',
  type: 'registry-provider-platforms',
  description: 'The zip of a version of a private provider for one operating system and architecture.',
  noun: 'platform of a provider version',
  exampleId: 'provpltfrm-3vKq8TzWb6XnYc5L',
  attributes: {
    os: exampleText('linux'),
    arch: exampleText('amd64'),
    filename: exampleText('terraform-provider-aws_1.4.0_linux_amd64.zip'),
    shasum: exampleText('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'The SHA-256 of the zip.'),
    'provider-binary-uploaded': z.boolean().meta({ examples: [true] }),
    permissions: permissionFlags('can-delete', 'can-upload-asset'),
  },
  relationships: { 'registry-provider-version': related.always('registry-provider-versions') },
  links: {
    self: serverPath(
      '/api/v2/organizations/acme/registry-providers/private/acme/aws/versions/1.4.0/platforms/linux/amd64',
    ),
    'provider-binary-upload': uploadLink('eyJ4.c2ln', 'the zip'),
    'provider-binary-download': downloadLink('eyJ5.c2ln/terraform-provider-aws_1.4.0_linux_amd64.zip', 'the zip'),
  },
});

const group = {
  ...PROVIDER_VERSIONS,
  resource: registryProviderPlatformSchema,
  path: {
    ...versionPath,
    os: { description: 'The operating system.', example: 'linux' },
    arch: { description: 'The architecture.', example: 'amd64' },
  },
  refusals: privateOnly,
};

export const registryProviderPlatformsOperations = describeController(RegistryProviderPlatformsController, group, {
  list: {},
  create: {
    description: 'Then upload the zip to the link of the answer.',
    body: describeResourceBody(createBody, {
      os: 'linux',
      arch: 'amd64',
      filename: 'terraform-provider-aws_1.4.0_linux_amd64.zip',
      shasum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    refusals: {
      unprocessable:
        'An attribute is not valid, SHA256SUMS has another checksum of the file, or the version has this platform.',
    },
  },
  show: {},
  destroy: {
    summary: 'Delete a platform of a provider version with its zip',
    description: 'If only the zip of this platform is missing, the version is published.',
    events: ['RegistryProviderPlatformDeleted', 'RegistryProviderVersionPublished'],
  },
});

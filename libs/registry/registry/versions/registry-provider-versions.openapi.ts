import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  permissionFlags,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { PROTOCOLS } from '#registry/provider-release/rules';
import { providerPath } from '../providers/registry-providers.openapi.js';
import { createBody, RegistryProviderVersionsController } from './registry-provider-versions.controller.js';

/** A signed URL of a file. `uri-reference` if it can be relative. */
export const signedUrl = (path: string, format: 'uri' | 'uri-reference' = 'uri') =>
  z.string().meta({ format, examples: [`https://cadastre.example.com/api/registry/private/v2/${path}`] });

/** A link that documents have until the file is uploaded. */
export const uploadLink = (token: string, file: string) =>
  signedUrl(`uploads/${token}`)
    .optional()
    .meta({
      description: `The URL to which a PUT uploads ${file}. Only until it is uploaded, and only for callers that may upload.`,
    });

/** A link that documents have after the file is uploaded. */
export const downloadLink = (path: string, file: string) =>
  signedUrl(`files/${path}`, 'uri-reference')
    .optional()
    .meta({ description: `The URL of ${file}, after it is uploaded. Relative for runs that use an internal address.` });

export const registryProviderVersionSchema = defineResource({
  name: 'RegistryProviderVersion',
  type: 'registry-provider-versions',
  description: 'A version of a private provider. Clients can install it after all files are uploaded and checked.',
  noun: 'version of a private provider',
  exampleId: 'provver-7cXm4RzKt9WbYq2H',
  attributes: {
    version: exampleText('1.4.0'),
    'key-id': exampleText('34365D9472D7468F', 'The id of the GPG key that signs the version.'),
    protocols: z.array(z.enum(PROTOCOLS)).meta({ examples: [['5.0']] }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    'shasums-uploaded': z.boolean().meta({ examples: [true] }),
    'shasums-sig-uploaded': z.boolean().meta({
      description: 'Whether the signature is uploaded and matches.',
      examples: [true],
    }),
    usable: z.boolean().meta({ description: 'Whether clients can install the version.' }),
    missing: z
      .array(exampleText('terraform-provider-aws_1.4.0_linux_amd64.zip'))
      .meta({ description: 'What the version lacks before clients can install it, in the order of upload.' }),
    permissions: permissionFlags('can-delete', 'can-upload-asset'),
  },
  relationships: {
    'registry-provider': related.always('registry-providers'),
    platforms: related.many('registry-provider-platforms'),
  },
  links: {
    self: serverPath('/api/v2/organizations/acme/registry-providers/private/acme/aws/versions/1.4.0'),
    'shasums-upload': uploadLink('eyJ0.c2ln', 'SHA256SUMS'),
    'shasums-sig-upload': uploadLink('eyJ1.c2ln', 'SHA256SUMS.sig'),
    'shasums-download': downloadLink('eyJ2.c2ln/terraform-provider-aws_1.4.0_SHA256SUMS', 'SHA256SUMS'),
    'shasums-sig-download': downloadLink('eyJ3.c2ln/terraform-provider-aws_1.4.0_SHA256SUMS.sig', 'SHA256SUMS.sig'),
  },
});

export const PROVIDER_VERSIONS = {
  name: 'Provider versions',
  description: 'Versions and platforms of private providers, and the uploads of their files.',
};

export const versionPath = { ...providerPath, version: { description: 'The version.', example: '1.4.0' } };

/** Public providers have no versions here. */
export const privateOnly = { forbidden: 'You lack the permission, or the provider is public.' };

const group = {
  ...PROVIDER_VERSIONS,
  resource: registryProviderVersionSchema,
  path: versionPath,
  refusals: privateOnly,
};

export const registryProviderVersionsOperations = describeController(RegistryProviderVersionsController, group, {
  list: {},
  create: {
    description:
      'Then upload SHA256SUMS and its signature to the links of the answer, and create the platforms. The version is published when its last file is uploaded.',
    body: describeResourceBody(createBody, { version: '1.4.0', 'key-id': '34365D9472D7468F', protocols: ['5.0'] }),
    refusals: { unprocessable: 'An attribute is not valid, or the provider has this version.' },
  },
  show: {},
  destroy: { summary: 'Delete a version of a private provider with its files' },
});

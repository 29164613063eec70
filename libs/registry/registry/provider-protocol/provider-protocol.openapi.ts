import { z } from 'zod';
import { describeController, describeEmpty, describeJson, exampleText } from '#api/json-api/description';
import { PROTOCOLS } from '#registry/provider-release/rules';
import { EXAMPLE_ARMOR } from '../gpg-keys/gpg-keys.openapi.js';
import { signedUrl } from '../versions/registry-provider-versions.openapi.js';
import { ProviderProtocolController } from './provider-protocol.controller.js';

const mediaType = 'application/json';

const platform = z.strictObject({ os: exampleText('linux'), arch: exampleText('amd64') });

const protocols = z.array(z.enum(PROTOCOLS)).meta({ examples: [['5.0']] });

const providerVersions = z.strictObject({
  versions: z.array(z.strictObject({ version: exampleText('1.4.0'), protocols, platforms: z.array(platform) })),
  warnings: z
    .array(exampleText('Version 1.4.0 cannot be installed yet: it still needs SHA256SUMS'))
    .optional()
    .meta({ description: 'Why no version can be installed. Only if the provider has versions and serves none.' }),
});

const providerPackage = z.strictObject({
  protocols,
  ...platform.shape,
  filename: exampleText('terraform-provider-aws_1.4.0_linux_amd64.zip', 'uri-reference'),
  download_url: signedUrl('files/eyJ5.c2ln/terraform-provider-aws_1.4.0_linux_amd64.zip', 'uri-reference'),
  shasum: exampleText('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'The SHA-256 of the zip.'),
  shasums_url: signedUrl('files/eyJ2.c2ln/terraform-provider-aws_1.4.0_SHA256SUMS', 'uri-reference'),
  shasums_signature_url: signedUrl('files/eyJ3.c2ln/terraform-provider-aws_1.4.0_SHA256SUMS.sig', 'uri-reference'),
  signing_keys: z.strictObject({
    gpg_public_keys: z.array(
      z.strictObject({
        key_id: exampleText('34365D9472D7468F'),
        ascii_armor: exampleText(EXAMPLE_ARMOR),
        trust_signature: z.literal(''),
        source: z.literal(''),
        source_url: z.null(),
      }),
    ),
  }),
});

const PROVIDER_PROTOCOL = {
  name: 'Provider registry protocol',
  description: 'The protocol by which Terraform and OpenTofu install private providers.',
  path: {
    namespace: { description: 'The name of the organization, in any case.', example: 'acme' },
    name: { description: 'The name of the provider.', example: 'aws' },
    version: { description: 'The version.', example: '1.4.0' },
    os: { description: 'The operating system.', example: 'linux' },
    arch: { description: 'The architecture.', example: 'amd64' },
  },
  refusalContent: {
    mediaType,
    schema: z
      .strictObject({ errors: z.array(exampleText('There is no provider acme/aws')) })
      .meta({ id: 'ProviderProtocolErrors', description: 'The reasons of a refusal, as texts.' }),
  },
};

const responseHeaders = { ETag: exampleText('"mPmWeoRXLeobcHMH2SqXK3mGmDo"', 'Identifies the content.') };

const ifChanged = {
  headers: { 'If-None-Match': z.string().optional().meta({ description: 'ETags of contents that the client has.' }) },
  otherAnswers: { 304: describeEmpty({ description: 'The client has the content.', headers: responseHeaders }) },
};

export const providerProtocolOperations = describeController(ProviderProtocolController, PROVIDER_PROTOCOL, {
  versions: {
    ...ifChanged,
    operationId: 'listInstallableProviderVersions',
    summary: 'List the versions of a provider that clients can install',
    answer: describeJson(providerVersions, { mediaType, description: 'The versions.', headers: responseHeaders }),
    refusals: { conflict: 'The provider has no version to install, because a signature does not match.' },
  },
  download: {
    ...ifChanged,
    operationId: 'getInstallableProviderPackage',
    summary: 'Show where to download a package of a provider',
    description: 'The URLs are signed: they need no token, and they expire after about a day.',
    answer: describeJson(providerPackage, { mediaType, description: 'The package.', headers: responseHeaders }),
  },
});

import { z } from 'zod';
import { describeController, describeEmpty, describeJson, exampleText, parameter } from '#api/json-api/description';
import { ModuleProtocolController } from './module-protocol.controller.js';

const mediaType = 'application/json';

const summary = {
  id: exampleText('acme/network/aws/1.4.0'),
  owner: z.literal(''),
  namespace: exampleText('acme'),
  name: exampleText('network'),
  version: exampleText('1.4.0'),
  provider: exampleText('aws'),
  description: z.literal(''),
  source: z.literal(''),
  tag: z.literal(''),
  published_at: z.string().meta({ format: 'date-time', examples: ['2026-01-31T12:30:15.123Z'] }),
  downloads: z.literal(0).meta({ description: 'The server counts no downloads.' }),
  verified: z.literal(false),
};

const moduleList = z.strictObject({
  meta: z.strictObject({
    limit: z.int().meta({ examples: [15] }),
    current_offset: z.int().meta({ examples: [0] }),
    next_offset: z
      .int()
      .optional()
      .meta({ description: 'The offset of the next page, if there is one.', examples: [15] }),
  }),
  modules: z.array(z.strictObject(summary)),
});

const moduleDetails = z.strictObject({
  ...summary,
  versions: z.array(exampleText('1.4.0')).meta({ description: 'The newest first, releases before pre-releases.' }),
});

const moduleVersions = z.strictObject({
  modules: z.array(
    z.strictObject({
      source: exampleText('acme/network/aws'),
      versions: z.array(z.strictObject({ version: exampleText('1.4.0') })),
    }),
  ),
});

const MODULE_PROTOCOL = {
  name: 'Module registry protocol',
  description: 'The protocol by which Terraform and OpenTofu install private modules.',
  path: {
    namespace: { description: 'The name of the organization, in any case.', example: 'acme' },
    name: { description: 'The name of the module, in any case.', example: 'network' },
    provider: { description: 'The provider of the module.', example: 'aws' },
    version: { description: 'The version.', example: '1.4.0' },
  },
  refusalContent: {
    mediaType,
    schema: z
      .strictObject({ errors: z.array(exampleText('There is no module acme/network/aws')) })
      .meta({ id: 'ModuleProtocolErrors', description: 'The reasons of a refusal, as texts.' }),
  },
};

const responseHeaders = { ETag: exampleText('"mPmWeoRXLeobcHMH2SqXK3mGmDo"', 'Identifies the content.') };

const listQuery = {
  limit: parameter.text('The number of modules, from 1 to 100. The default is 15.'),
  offset: parameter.text('The number of modules to skip.'),
  provider: parameter.text('Only modules for this provider.'),
};
const q = parameter.text('Only modules with this text in their name or provider, ignoring case.');

const list = {
  answer: describeJson(moduleList, { mediaType, description: 'The modules with their newest version.' }),
  refusals: { 'bad-request': 'A parameter is not valid.' },
};
const details = { answer: describeJson(moduleDetails, { mediaType, description: 'The module.' }) };

export const moduleProtocolOperations = describeController(ModuleProtocolController, MODULE_PROTOCOL, {
  list: {
    ...list,
    operationId: 'listInstallableModules',
    summary: 'List the modules of all organizations of the caller',
    query: { ...listQuery, q },
  },
  search: {
    ...list,
    operationId: 'searchInstallableModules',
    summary: 'Search modules',
    query: { ...listQuery, q, namespace: parameter.text('Only modules of this organization.') },
  },
  listNamespace: {
    ...list,
    operationId: 'listInstallableModulesOfOrganization',
    summary: 'List the modules of an organization that clients can install',
    query: { ...listQuery, q },
  },
  versions: {
    operationId: 'listInstallableModuleVersions',
    summary: 'List the versions of a module that clients can install',
    headers: {
      'If-None-Match': z.string().optional().meta({ description: 'ETags of contents that the client has.' }),
    },
    answer: describeJson(moduleVersions, { mediaType, description: 'The versions.', headers: responseHeaders }),
    otherAnswers: { 304: describeEmpty({ description: 'The client has the content.', headers: responseHeaders }) },
  },
  download: {
    operationId: 'getInstallableModuleArchive',
    summary: 'Show where to download a version of a module',
    description: 'The address is signed: it needs no token, and it expires after 15 minutes.',
    answer: describeEmpty({
      headers: {
        'X-Terraform-Get': exampleText(
          'https://cadastre.example.com/api/registry/private/v2/modules/object/eyJ5.c2ln/network-aws-1.4.0.tar.gz',
          'The address of the archive. Relative for runs that use an internal address.',
        ),
      },
    }),
  },
  showNewest: {
    ...details,
    operationId: 'getInstallableModule',
    summary: 'Show a module with its newest version',
  },
  show: { ...details, operationId: 'getInstallableModuleVersion', summary: 'Show a version of a module' },
});

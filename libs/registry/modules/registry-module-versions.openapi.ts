import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { createBody, RegistryModuleVersionsController } from './registry-module-versions.controller.js';
import { modulePath } from './registry-modules.openapi.js';

const EXAMPLE_PATH = '/api/v2/organizations/acme/registry-modules/private/acme/network/aws';

export const registryModuleVersionSchema = defineResource({
  name: 'RegistryModuleVersion',
  type: 'registry-module-versions',
  description: 'A version of a module. Clients can install it after its archive is uploaded and checked.',
  noun: 'version of a module',
  exampleId: 'modver-7cXm4RzKt9WbYq2H',
  attributes: {
    version: exampleText('1.4.0'),
    source: z.enum(['tfe-api']),
    status: z
      .enum(['pending', 'ok'])
      .meta({ description: '`ok` after the archive is uploaded.', examples: ['pending'] }),
    'commit-sha': exampleText('5cbd1f4a', 'The commit that the client has named.').nullable(),
    'created-at': timestamp(),
    'updated-at': timestamp(),
  },
  relationships: { 'registry-module': related.always('registry-modules') },
  links: {
    self: serverPath(`${EXAMPLE_PATH}/version?module_version=1.4.0`),
    upload: z
      .string()
      .optional()
      .meta({
        format: 'uri',
        examples: ['https://cadastre.example.com/api/registry/private/v2/modules/object/eyJ0.c2ln'],
        description:
          'The URL to which a PUT uploads the archive. Only until it is uploaded, and only for callers that may upload.',
      }),
  },
});

export const MODULE_VERSIONS = {
  name: 'Module versions',
  description: 'Versions of modules, and the uploads of their archives.',
};

const group = {
  ...MODULE_VERSIONS,
  resource: registryModuleVersionSchema,
  path: { ...modulePath, version: { description: 'The version.', example: '1.4.0' } },
};

const creation = {
  description: 'Then upload the archive to the link `upload` of the answer. The version is installable after that.',
  body: describeResourceBody(createBody, { version: '1.4.0' }),
  refusals: { unprocessable: 'An attribute is not valid, or the module has this version.' },
  events: ['RegistryModuleVersionCreated'],
};

const deletion = {
  description: 'If the module has no other version, it is deleted too. This cannot be undone.',
  events: ['RegistryModuleVersionDeleted', 'RegistryModuleDeleted'],
};

export const registryModuleVersionsOperations = describeController(RegistryModuleVersionsController, group, {
  list: {},
  show: { query: { module_version: parameter.text('The version.') } },
  create: creation,
  createByOldPath: {
    ...creation,
    operationId: 'createRegistryModuleVersionByOldPath',
    summary: 'Create a version of a module by an older path',
  },
  destroy: { ...deletion, summary: 'Delete a version of a module with its archive' },
  destroyByAction: {
    ...deletion,
    operationId: 'deleteRegistryModuleVersionByOldPath',
    summary: 'Delete a version of a module by an older path',
  },
});

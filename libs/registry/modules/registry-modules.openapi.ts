import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  permissionFlags,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { createBody, INCLUDES, RegistryModulesController, updateBody } from './registry-modules.controller.js';

const EXAMPLE_PATH = '/api/v2/organizations/acme/registry-modules/private/acme/network/aws';

export const registryModuleSchema = defineResource({
  name: 'RegistryModule',
  type: 'registry-modules',
  description: 'A private module with the statuses of its versions.',
  noun: 'module',
  exampleId: 'mod-2hYv8QxKb5NwTd7L',
  attributes: {
    name: exampleText('network'),
    namespace: exampleText('acme', 'The name of the organization.'),
    provider: exampleText('aws', 'The main provider of the module, as the last part of its source.'),
    'registry-name': z.enum(['private']),
    status: z
      .enum(['pending', 'setup_complete'])
      .meta({ description: '`setup_complete` after the module has a version that clients can install.' }),
    'publishing-mechanism': z.enum(['non_vcs']),
    'no-code': z
      .boolean()
      .meta({ description: 'Stored for clients. The server creates no workspaces from modules.', examples: [false] }),
    'version-statuses': z
      .array(
        z.strictObject({
          version: exampleText('1.4.0'),
          status: z.enum(['pending', 'ok']),
          error: exampleText('', 'Always empty: an archive that is no module is refused.'),
        }),
      )
      .meta({ description: 'The versions, the newest first. Clients can install those with the status `ok`.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    permissions: permissionFlags('can-delete', 'can-resync', 'can-retry'),
  },
  relationships: { organization: related.always('organizations'), versions: related.link() },
  links: { self: serverPath(EXAMPLE_PATH) },
});

/** Path parameters of a module. */
export const modulePath = {
  registryName: { description: '`private`.', example: 'private' },
  namespace: { description: 'The name of the organization.', example: 'acme' },
  name: { description: 'The name of the module, in any case.', example: 'network' },
  provider: { description: 'The provider of the module.', example: 'aws' },
};

const MODULES = {
  name: 'Modules',
  description: 'Private modules in the registry of an organization.',
  resource: registryModuleSchema,
  include: { values: INCLUDES, resources: [] },
  path: modulePath,
};

const DELETION = 'The versions and their archives are deleted too. This cannot be undone.';

export const registryModulesOperations = describeController(RegistryModulesController, MODULES, {
  list: {
    query: {
      q: parameter.text('Only modules with this text in their name or provider, ignoring case.'),
      'filter[registry_name]': parameter.text('Only modules of this registry: `private`.'),
      'filter[organization_name]': parameter.text('Only modules of the organization with this name.'),
      'filter[provider]': parameter.text('Only modules for this provider.'),
    },
  },
  create: {
    description: 'Then create a version, and upload its archive.',
    body: describeResourceBody(createBody, { name: 'network', provider: 'aws' }),
    refusals: { unprocessable: 'A name is not valid, or the organization has a module with these names.' },
  },
  show: {},
  showByPath: { operationId: 'getRegistryModuleByName', summary: 'Show a module by its name' },
  update: { body: describeResourceBody(updateBody, { 'no-code': true }), events: ['RegistryModuleUpdated'] },
  destroy: { description: DELETION },
  destroyAll: {
    operationId: 'deleteRegistryModulesByName',
    summary: 'Delete the modules with a name, for all providers',
    description: DELETION,
    refusals: { unprocessable: 'More than 100 modules have this name.' },
  },
  destroyAllByAction: {
    operationId: 'deleteRegistryModulesByOldPath',
    summary: 'Delete the modules with a name, for all providers, by an older path',
    description: DELETION,
    refusals: { unprocessable: 'More than 100 modules have this name.' },
  },
  destroyByAction: {
    operationId: 'deleteRegistryModuleByOldPath',
    summary: 'Delete a module by an older path',
    description: DELETION,
  },
});

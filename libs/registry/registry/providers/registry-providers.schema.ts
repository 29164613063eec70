import {
  defineResource,
  exampleText,
  permissionFlags,
  relatedAlways,
  relatedMany,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { z } from 'zod';

export const registryProviderSchema = defineResource({
  name: 'RegistryProvider',
  type: 'registry-providers',
  description:
    'A private provider with its versions, or the name of a public provider that the organization recommends.',
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
    organization: relatedAlways('organizations'),
    'registry-provider-versions': relatedMany('registry-provider-versions'),
    'tag-bindings': relatedMany('tag-bindings'),
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

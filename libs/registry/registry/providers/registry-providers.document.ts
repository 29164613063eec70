import { can, type Identity } from '#api/access';
import { deriveTagBindingId } from '#organizations/tag-bindings';
import { linkTo, toMany, toOne, type Resource } from '#api/json-api';
import type { RegistryProviderRow } from './registry-providers.queries.js';

/** Returns the path of a private provider. Its namespace is the name of its organization. */
export const buildProviderPath = (organizationName: string, name: string): string =>
  `/api/v2/organizations/${organizationName}/registry-providers/private/${organizationName}/${name}`;

export const renderRegistryProvider = (row: RegistryProviderRow, actor: Identity): Resource => {
  const { organizationName, registryName, namespace, name } = row;
  const path = `/api/v2/organizations/${organizationName}/registry-providers/${registryName}/${namespace}/${name}`;
  return {
    id: row.id,
    type: 'registry-providers',
    attributes: {
      name,
      namespace,
      'registry-name': registryName,
      'created-at': row.createdAt,
      'updated-at': row.updatedAt,
      permissions: { 'can-delete': can(actor, 'manage-providers', row) },
    },
    relationships: {
      organization: toOne('organizations', organizationName, `/api/v2/organizations/${organizationName}`),
      'registry-provider-versions': {
        ...toMany('registry-provider-versions', row.versions),
        ...linkTo(`${path}/versions`),
      },
      'tag-bindings': {
        ...toMany(
          'tag-bindings',
          row.tags.map(({ key }) => deriveTagBindingId(row.id, key)),
        ),
        ...linkTo(`/api/v2/registry-providers/${row.id}/tag-bindings`),
      },
    },
    links: { self: path },
  };
};

/**
 * Renders the tags of a provider as bindings. A tag without a value has an empty value, as for workspaces.
 */
export const renderProviderBindings = ({ id, tags }: Pick<RegistryProviderRow, 'id' | 'tags'>): Resource[] =>
  tags.map(({ key, value }) => ({
    id: deriveTagBindingId(id, key),
    type: 'tag-bindings',
    attributes: { key, value: value ?? '' },
  }));

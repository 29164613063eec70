// The documents of plans in the formats of terraform.

const PROVIDER = 'registry.terraform.io/hashicorp/aws';

/** Returns the change of a resource, as `terraform show -json` writes it. */
export const makePlannedChange = (address: string, change: object, members: object = {}) => {
  const [type, name] = address.split('.').slice(-2);
  const unmarked = { before: null, after: null, after_unknown: {}, before_sensitive: {}, after_sensitive: {} };
  return {
    address,
    mode: 'managed',
    type,
    name,
    provider_name: PROVIDER,
    ...members,
    change: { ...unmarked, ...change },
  };
};

/** Returns the schemas of these types of resources, as `terraform providers schema -json` writes them. */
export const makeProviderSchemas = (...types: readonly string[]) => ({
  format_version: '1.0',
  provider_schemas: {
    [PROVIDER]: { resource_schemas: Object.fromEntries(types.map((type) => [type, { version: 0, block: {} }])) },
  },
});

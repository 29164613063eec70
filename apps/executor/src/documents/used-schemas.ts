type SchemaObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Collects each `type` that occurs in a plan: in changes, drift, actions, the configuration and the state before. */
const collectTypes = (value: unknown, types: Set<string>): void => {
  if (Array.isArray(value)) for (const item of value) collectTypes(item, types);
  if (!isObject(value)) return;
  if (typeof value['type'] === 'string') types.add(value['type']);
  for (const member of Object.values(value)) collectTypes(member, types);
};

const pickTypes = (schemas: unknown, types: ReadonlySet<string>): unknown =>
  isObject(schemas) ? Object.fromEntries(Object.entries(schemas).filter(([type]) => types.has(type))) : schemas;

/** Returns whether a member of a provider's schemas has a schema for each type, such as `resource_schemas`. */
const isByType = (member: string): boolean => member.endsWith('_schemas');

const reduceProvider = (provider: unknown, types: ReadonlySet<string>): unknown =>
  isObject(provider)
    ? Object.fromEntries(
        Object.entries(provider).flatMap(([member, value]) => {
          // Functions are not part of a plan.
          if (member === 'functions') return [];
          return [[member, isByType(member) ? pickTypes(value, types) : value]];
        }),
      )
    : provider;

/**
 * Returns `terraform providers schema -json` with the types that occur in the plan. The schemas of a large provider have tens
 * of megabytes.
 */
export const reduceSchemas = (schemas: SchemaObject, plan: SchemaObject): SchemaObject => {
  const types = new Set<string>();
  collectTypes(plan, types);
  const providers = schemas['provider_schemas'];
  if (!isObject(providers)) return schemas;
  return {
    ...schemas,
    provider_schemas: Object.fromEntries(
      Object.entries(providers).map(([name, provider]) => [name, reduceProvider(provider, types)]),
    ),
  };
};

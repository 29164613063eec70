/**
 * Builds the plan that the CLI shows from what executors upload: `terraform show -json` of the plan, and
 * `terraform providers schema -json`. It contains the changes and the schemas that describe them, and none of the values
 * that terraform marks as sensitive. Members that are not listed here are left out, so that a later version of terraform
 * adds nothing by itself.
 */
type PlanObject = Readonly<Record<string, unknown>>;

/** Thrown if the documents do not fit together. Its message is for the executor. */
export class UnusablePlanError extends Error {
  override readonly name = 'UnusablePlanError';
}

/** Replaces sensitive values of any type. The CLI shows `(sensitive value)` and never this text. */
const REDACTED = 'REDACTED';
/** Replaces a sensitive value that the plan changes, so that the CLI sees a change. */
const REDACTED_CHANGE = 'REDACTED (changed)';

const RESOURCE_MEMBERS = [
  'address',
  'previous_address',
  'module_address',
  'mode',
  'type',
  'name',
  'index',
  'provider_name',
  'deposed',
  'action_reason',
] as const;

const CHANGE_MEMBERS = [
  'actions',
  'before_sensitive',
  'after_sensitive',
  'replace_paths',
  'importing',
  'generated_config',
];

const ACTION_MEMBERS = [
  'address',
  'type',
  'name',
  'config_sensitive',
  'config_unknown',
  'provider_name',
  'lifecycle_action_trigger',
  'invoke_action_trigger',
] as const;

/** Schemas by the mode of the resources that they describe. */
const SCHEMAS_BY_MODE: Readonly<Record<string, string>> = {
  managed: 'resource_schemas',
  data: 'data_source_schemas',
};

/** An exact number is an object of JSON.rawJSON. */
const isObject = (value: unknown): value is PlanObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);

const listObjects = (value: unknown): readonly PlanObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const pick = (value: PlanObject, members: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(members.filter((member) => Object.hasOwn(value, member)).map((member) => [member, value[member]]));

/** Returns whether a structure of marks has a mark anywhere. */
const hasMark = (marks: unknown): boolean =>
  marks === true || (typeof marks === 'object' && marks !== null && Object.values(marks).some(hasMark));

const getMember = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;

/**
 * Replaces the marked parts of a value. Null stays null: it shows whether there is a value, as the CLI does. A value that
 * does not have the form of its marks is replaced as a whole.
 */
const redactValue = (value: unknown, marks: unknown, text: (path: readonly (string | number)[]) => string): unknown => {
  const visit = (part: unknown, mark: unknown, path: readonly (string | number)[]): unknown => {
    if (part === null || part === undefined || !hasMark(mark)) return part;
    if (Array.isArray(part) && Array.isArray(mark)) {
      return part.map((item: unknown, index) => visit(item, mark[index], [...path, index]));
    }
    if (isObject(part) && isObject(mark)) {
      return Object.fromEntries(
        Object.entries(part).map(([key, item]) => [key, visit(item, getMember(mark, key), [...path, key])]),
      );
    }
    return text(path);
  };
  return visit(value, marks, []);
};

/** Hides the form of sensitive values that are only partly unknown: keys of a map can be secrets. */
const redactUnknown = (unknown: unknown, marks: unknown): unknown => {
  if (!hasMark(marks)) return unknown;
  if (Array.isArray(unknown) && Array.isArray(marks)) {
    return unknown.map((item: unknown, index) => redactUnknown(item, marks[index]));
  }
  if (isObject(unknown) && isObject(marks)) {
    return Object.fromEntries(
      Object.entries(unknown).map(([key, item]) => [key, redactUnknown(item, getMember(marks, key))]),
    );
  }
  return unknown === true;
};

const getPart = (value: unknown, path: readonly (string | number)[]): unknown => path.reduce(getMember, value);

/** Redacts a change of a resource or an output. */
export const redactChange = (change: PlanObject): PlanObject => {
  const { before, after, before_sensitive: beforeMarks, after_sensitive: afterMarks } = change;
  const hasChanged = (path: readonly (string | number)[]): boolean =>
    JSON.stringify(getPart(before, path)) !== JSON.stringify(getPart(after, path));
  const textAfter = (path: readonly (string | number)[]): string => (hasChanged(path) ? REDACTED_CHANGE : REDACTED);
  // A value that was or becomes sensitive is hidden on both sides: the plan can leave it unchanged.
  const redacted = (value: unknown, text: (path: readonly (string | number)[]) => string): unknown =>
    redactValue(redactValue(value, afterMarks, text), beforeMarks, text);
  return {
    ...pick(change, CHANGE_MEMBERS),
    before: redacted(before ?? null, () => REDACTED),
    after: redacted(after ?? null, textAfter),
    after_unknown: redactUnknown(change['after_unknown'] ?? false, afterMarks),
  };
};

const redactResource = (resource: PlanObject): PlanObject => ({
  ...pick(resource, RESOURCE_MEMBERS),
  change: redactChange(isObject(resource['change']) ? resource['change'] : {}),
});

const redactAction = (action: PlanObject): PlanObject => ({
  ...pick(action, ACTION_MEMBERS),
  config_values: redactValue(action['config_values'] ?? null, action['config_sensitive'], () => REDACTED),
});

type SchemaUse = { readonly provider: string; readonly kind: string; readonly type: string };

const listSchemaUses = (plan: PlanObject): readonly SchemaUse[] => {
  const deferred = listObjects(plan['deferred_changes']).flatMap(({ resource_change: resource }) =>
    isObject(resource) ? [resource] : [],
  );
  const resources = [...listObjects(plan['resource_changes']), ...listObjects(plan['resource_drift']), ...deferred];
  return [
    ...resources.map(({ provider_name: provider, mode, type }) => ({
      provider: String(provider),
      kind: SCHEMAS_BY_MODE[String(mode)] ?? `${String(mode)}_schemas`,
      type: String(type),
    })),
    ...listObjects(plan['action_invocations']).map(({ provider_name: provider, type }) => ({
      provider: String(provider),
      kind: 'action_schemas',
      type: String(type),
    })),
  ];
};

/** Returns an object without a prototype: `__proto__` in a document is then a member like any other. */
const createTable = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** Returns the schemas that the plan uses. The CLI stops with an error if one of them is missing. */
const selectSchemas = (
  plan: PlanObject,
  schemas: PlanObject,
): Record<string, Record<string, Record<string, unknown>>> => {
  const selected = createTable<Record<string, Record<string, unknown>>>();
  for (const { provider, kind, type } of listSchemaUses(plan)) {
    const schema = getPart(schemas['provider_schemas'], [provider, kind, type]);
    if (!isObject(schema)) {
      throw new UnusablePlanError(
        `The plan uses ${type} of the provider ${provider}, but ${kind} of json-schema lacks it`,
      );
    }
    ((selected[provider] ??= createTable<Record<string, unknown>>())[kind] ??= createTable<unknown>())[type] = schema;
  }
  return selected;
};

const requireVersion = (document: PlanObject, name: string): string => {
  const version = document['format_version'];
  if (typeof version === 'string') return version;
  throw new UnusablePlanError(`${name} has no format_version`);
};

export const requireJsonObject = (document: unknown, name: string): PlanObject => {
  if (isObject(document)) return document;
  throw new UnusablePlanError(`${name} is not a JSON object`);
};

/** Returns the redacted plan. Throws UnusablePlanError. */
export const buildRedactedPlan = (plan: PlanObject, schemas: PlanObject): PlanObject => ({
  plan_format_version: requireVersion(plan, 'json-output'),
  provider_format_version: requireVersion(schemas, 'json-schema'),
  provider_schemas: selectSchemas(plan, schemas),
  resource_changes: listObjects(plan['resource_changes']).map(redactResource),
  resource_drift: listObjects(plan['resource_drift']).map(redactResource),
  relevant_attributes: listObjects(plan['relevant_attributes']).map((one) => pick(one, ['resource', 'attribute'])),
  output_changes: Object.fromEntries(
    Object.entries(isObject(plan['output_changes']) ? plan['output_changes'] : {}).flatMap(([name, change]) =>
      isObject(change) ? [[name, redactChange(change)]] : [],
    ),
  ),
  deferred_changes: listObjects(plan['deferred_changes']).map(({ reason, resource_change: resource }) => ({
    reason,
    resource_change: redactResource(isObject(resource) ? resource : {}),
  })),
  action_invocations: listObjects(plan['action_invocations']).map(redactAction),
});

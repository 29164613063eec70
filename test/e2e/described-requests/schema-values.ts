import fc from 'fast-check';

/** The keywords of JSON Schema that the bodies and parameters of docs/reference/openapi.json use. */
export type GeneratedSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly GeneratedSchema[];
  readonly allOf?: readonly GeneratedSchema[];
  readonly properties?: Readonly<Record<string, GeneratedSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | GeneratedSchema;
  readonly items?: GeneratedSchema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly not?: object;
};

/** Schemas by name, and texts that may be ids or names of resources on the server. */
export type ValueSources = {
  readonly schemas: Readonly<Record<string, GeneratedSchema>>;
  readonly texts: readonly string[];
};

const anyText = fc.oneof(fc.stringMatching(/^[a-z0-9_-]{1,12}$/), fc.string({ unit: 'grapheme', maxLength: 20 }));

const timestamps = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2029-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': timestamps,
  date: timestamps.map((text) => text.slice(0, 10)),
  uri: fc.webUrl(),
  'uri-reference': fc.webPath(),
  uuid: fc.uuid(),
};

const patterns = new Map<string, fc.Arbitrary<string>>();

/**
 * Makes the generator of a pattern once. For each generator of a negated class, fast-check makes a table of all characters,
 * which takes a second.
 */
const textMatching = (pattern: string): fc.Arbitrary<string> => {
  const texts = patterns.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'));
  patterns.set(pattern, texts);
  return texts;
};

const textOf = (schema: GeneratedSchema, { texts }: ValueSources): fc.Arbitrary<unknown> => {
  if (schema.format !== undefined) return FORMATS[schema.format] ?? anyText;
  if (schema.pattern !== undefined) return textMatching(schema.pattern);
  const { minLength = 0, maxLength = Infinity } = schema;
  const free = fc
    .oneof(anyText, fc.constantFrom('', ...texts))
    .filter(({ length }) => length >= minLength && length <= maxLength);
  return schema.examples?.length ? fc.oneof(fc.constantFrom(...schema.examples), free) : free;
};

const numberOf = ({ minimum, exclusiveMinimum, maximum = 1_000 }: GeneratedSchema): fc.Arbitrary<number> =>
  fc.integer({ min: minimum ?? (exclusiveMinimum === undefined ? -5 : exclusiveMinimum + 1), max: maximum });

const objectOf = (schema: GeneratedSchema, sources: ValueSources): fc.Arbitrary<unknown> => {
  // `not: {}` refuses every value, so the member must be absent.
  const members = Object.entries(schema.properties ?? {}).filter(([, member]) => member.not === undefined);
  const { additionalProperties: others, required = [] } = schema;
  const own = fc.record(Object.fromEntries(members.map(([name, member]) => [name, valueOf(member, sources)])), {
    requiredKeys: [...required],
  });
  if (typeof others !== 'object') return own;
  const free = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valueOf(others, sources), { maxKeys: 2 });
  return fc.tuple(free, own).map(([extra, values]) => ({ ...extra, ...values }));
};

const typedValueOf = (type: string, schema: GeneratedSchema, sources: ValueSources): fc.Arbitrary<unknown> => {
  if (type === 'object') return objectOf(schema, sources);
  if (type === 'array') {
    return fc.array(valueOf(schema.items ?? {}, sources), { minLength: schema.minItems ?? 0, maxLength: 3 });
  }
  if (type === 'string') return textOf(schema, sources);
  if (type === 'boolean') return fc.boolean();
  return type === 'null' ? fc.constant(null) : numberOf(schema);
};

const refined = ({ $ref }: GeneratedSchema, { schemas }: ValueSources): GeneratedSchema => {
  const schema = schemas[$ref?.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`the description has no schema ${$ref}`);
  return schema;
};

/** Generates JSON values that match the schema. Texts are often ids or names of resources. */
export const valueOf = (schema: GeneratedSchema, sources: ValueSources): fc.Arbitrary<unknown> => {
  if (schema.$ref !== undefined) return valueOf(refined(schema, sources), sources);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((branch) => valueOf(branch, sources)));
  if (schema.allOf) {
    const all = fc.tuple(...schema.allOf.map((each) => valueOf(each, sources)));
    return all.map((values) => Object.assign({}, ...(values as object[])) as object);
  }
  if (schema.type === undefined) return fc.jsonValue({ maxDepth: 1 });
  // Null is rare: it means that a member is cleared, and most members are optional.
  const types = [schema.type].flat();
  const branches = types.map((type) => ({
    arbitrary: typedValueOf(type, schema, sources),
    weight: type === 'null' && types.length > 1 ? 1 : 4,
  }));
  return fc.oneof(...branches);
};

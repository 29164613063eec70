/** A JSON Schema in the OpenAPI document. */
export type DescribedSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly DescribedSchema[];
  readonly items?: DescribedSchema;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
  readonly required?: readonly string[];
  readonly format?: string;
};

type ExampleSources = {
  readonly schemas: Readonly<Record<string, DescribedSchema>>;
  /** An id of a resource, by JSON:API type. */
  readonly ids: ReadonlyMap<string, string>;
};

const isNull = ({ type }: DescribedSchema): boolean => type === 'null';

/** Composes the examples of documents from the examples, constants and types of their schemas. */
export class Examples {
  /** Locations of texts without an example, such as `Workspace.attributes.name`. */
  readonly missing = new Set<string>();

  constructor(private readonly sources: ExampleSources) {}

  /** Returns an example of the schema. `location`: the place of the schema, for `missing`. */
  compose(schema: DescribedSchema, location: string): unknown {
    if (schema.examples && schema.examples.length > 0) return schema.examples[0];
    if (schema.$ref) return this.composeReference(schema.$ref);
    if ('const' in schema) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.anyOf) return this.composeChoice(schema.anyOf, location);
    return this.composeType(schema, location);
  }

  private composeReference(reference: string): unknown {
    const name = reference.split('/').at(-1) ?? '';
    const schema = this.sources.schemas[name];
    if (!schema) throw new Error(`the description refers to ${reference}, which it does not define`);
    return this.compose(schema, name);
  }

  /** A value that can be null is null in the example if it has no other example. */
  private composeChoice(choices: readonly DescribedSchema[], location: string): unknown {
    if (!choices.some(isNull)) return this.compose(choices[0] ?? {}, location);
    const [choice = {}] = choices.filter((each) => !isNull(each));
    const attempt = new Examples(this.sources);
    const example = attempt.compose(choice, location);
    return attempt.missing.size > 0 ? null : example;
  }

  private composeType(schema: DescribedSchema, location: string): unknown {
    const types = [schema.type ?? 'object'].flat();
    const [type] = types;
    if (type === 'string' && types.includes('null')) return null;
    if (type === 'object') return this.composeObject(schema, location);
    if (type === 'array') return schema.items ? [this.compose(schema.items, location)] : [];
    if (type === 'boolean') return false;
    if (type === 'null') return null;
    if (type === 'integer' || type === 'number') return 1;
    this.missing.add(location);
    return '';
  }

  private composeObject({ properties = {}, required = [] }: DescribedSchema, location: string): unknown {
    const type = properties['type']?.const;
    const isIdentifier = typeof type === 'string' && Object.keys(properties).length === 2 && 'id' in properties;
    if (isIdentifier) return { type, id: this.sources.ids.get(type) ?? `${type}-1` };
    const members = Object.entries(properties).map(
      ([name, member]) => [name, this.composeMember(member, `${location}.${name}`, required.includes(name))] as const,
    );
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  /** Returns undefined for a member that can be absent and has no example. */
  private composeMember(schema: DescribedSchema, location: string, isRequired: boolean): unknown {
    if (isRequired) return this.compose(schema, location);
    const attempt = new Examples(this.sources);
    const example = attempt.compose(schema, location);
    return attempt.missing.size > 0 ? undefined : example;
  }
}

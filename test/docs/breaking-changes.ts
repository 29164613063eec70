/** The parts of a JSON Schema that decide whether a client of an earlier one works. */
export type ComparedSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ComparedSchema>>;
  readonly required?: readonly string[];
  readonly items?: ComparedSchema;
  readonly anyOf?: readonly ComparedSchema[];
  readonly oneOf?: readonly ComparedSchema[];
  readonly maxLength?: number;
  readonly maxItems?: number;
};

/** Who sends the values: a client must send what the server accepts, and understand what the server sends. */
export type Sender = 'client' | 'server';

type Schemas = Readonly<Record<string, ComparedSchema>>;
type Pair = { readonly before: ComparedSchema; readonly after: ComparedSchema };

const listTypes = ({ type }: ComparedSchema): readonly string[] => [type ?? []].flat();

const listValues = (schema: ComparedSchema): readonly string[] | null => {
  const values = 'const' in schema ? [schema.const] : schema.enum;
  return values ? values.map((value) => JSON.stringify(value)) : null;
};

/** Compares schemas, with the schemas that they refer to by name. */
export class SchemaComparison {
  private readonly compared = new Set<string>();
  readonly changes: string[] = [];

  constructor(
    private readonly sender: Sender,
    private readonly schemasBefore: Schemas = {},
    private readonly schemasAfter: Schemas = {},
  ) {}

  compare(where: string, before: ComparedSchema, after: ComparedSchema): void {
    const names = `${before.$ref ?? ''} ${after.$ref ?? ''}`;
    if (names !== ' ') {
      if (this.compared.has(names)) return;
      this.compared.add(names);
    }
    const pair = { before: resolve(before, this.schemasBefore), after: resolve(after, this.schemasAfter) };
    this.compareTypes(where, pair);
    this.compareValues(where, pair);
    this.compareLimits(where, pair);
    this.compareMembers(where, pair);
    if (pair.before.items && pair.after.items) this.compare(`${where}[]`, pair.before.items, pair.after.items);
    this.compareChoices(where, pair);
  }

  private compareTypes(where: string, { before, after }: Pair): void {
    const [expected, sent] = this.sender === 'server' ? [before, after] : [after, before];
    const surplus = listTypes(sent).filter((type) => !isAmong(type, listTypes(expected)));
    if (listTypes(expected).length === 0 || surplus.length === 0) return;
    const verb = this.sender === 'server' ? 'can now be' : 'can no longer be';
    this.changes.push(`${where} ${verb} ${surplus.join(' or ')}`);
  }

  /** A server may send new values of a list, because clients must accept values that they do not know. */
  private compareValues(where: string, { before, after }: Pair): void {
    const [old, current] = [listValues(before), listValues(after)];
    if (this.sender === 'server' || !old || !current) return;
    const removed = old.filter((value) => !current.includes(value));
    if (removed.length > 0) this.changes.push(`${where} can no longer be ${removed.join(' or ')}`);
  }

  private compareLimits(where: string, { before, after }: Pair): void {
    if (this.sender === 'server') return;
    for (const limit of ['maxLength', 'maxItems'] as const) {
      const [old, current] = [before[limit] ?? Number.POSITIVE_INFINITY, after[limit] ?? Number.POSITIVE_INFINITY];
      if (current < old) this.changes.push(`${where} has the limit ${limit} ${current} instead of ${old}`);
    }
  }

  private compareMembers(where: string, { before, after }: Pair): void {
    const [old, current] = [before.properties, after.properties];
    if (!old || !current) return;
    for (const [name, schema] of Object.entries(old)) {
      const member = current[name];
      if (member) this.compare(`${where}.${name}`, schema, member);
      else this.changes.push(`${where}.${name} is gone`);
    }
    const [required, wasRequired] = [after.required ?? [], before.required ?? []];
    if (this.sender === 'client') {
      for (const name of required.filter((one) => !wasRequired.includes(one)))
        this.changes.push(`${where}.${name} is now required`);
    } else {
      for (const name of wasRequired.filter((one) => one in current && !required.includes(one)))
        this.changes.push(`${where}.${name} can now be absent`);
    }
  }

  /** Compares choices with as many alternatives as before. Others are compared by their number only. */
  private compareChoices(where: string, { before, after }: Pair): void {
    const [old, current] = [before.anyOf ?? before.oneOf ?? [], after.anyOf ?? after.oneOf ?? []];
    if (old.length !== current.length) {
      const isMore = current.length > old.length;
      if (old.length > 0 && isMore === (this.sender === 'server'))
        this.changes.push(`${where} has ${current.length} alternatives instead of ${old.length}`);
      return;
    }
    for (const [index, schema] of old.entries()) this.compare(where, schema, current[index] ?? {});
  }
}

const resolve = (schema: ComparedSchema, schemas: Schemas): ComparedSchema => {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (schemas[name] ?? {});
};

const isAmong = (type: string, types: readonly string[]): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'));

/** Returns what a consumer of the topics of an earlier AsyncAPI document and its schemas would notice. */
export const findBreakingEventChanges = (before: EventDescriptions, after: EventDescriptions): readonly string[] => {
  const changes: string[] = [];
  for (const [name, { address, messages }] of Object.entries(before.document.channels)) {
    const channel = after.document.channels[name];
    if (!channel) changes.push(`the channel ${name} is gone`);
    else if (channel.address !== address)
      changes.push(`the channel ${name} is now at ${channel.address}, not ${address}`);
    for (const message of Object.keys(messages)) {
      if (channel && !(message in channel.messages)) changes.push(`${message} is no longer in the channel ${name}`);
    }
  }
  for (const [type, schema] of Object.entries(before.schemas)) {
    const current = after.schemas[type];
    if (!current) changes.push(`the event ${type} is gone`);
    // Another version has another id, and consumers choose by it.
    if (!current || current.$id !== schema.$id) continue;
    const comparison = new SchemaComparison('server');
    comparison.compare(type, schema, current);
    changes.push(...comparison.changes);
  }
  return changes;
};

export type EventDescriptions = {
  readonly document: {
    readonly channels: Readonly<Record<string, { readonly address: string; readonly messages: object }>>;
  };
  readonly schemas: Readonly<Record<string, ComparedSchema & { readonly $id?: string }>>;
};

type ComparedContent = Readonly<Record<string, { readonly schema?: ComparedSchema }>>;
type ComparedAnswer = { readonly $ref?: string; readonly content?: ComparedContent };
type ComparedParameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: ComparedSchema;
};
type ComparedOperation = {
  readonly operationId: string;
  readonly parameters?: readonly ComparedParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: ComparedContent };
  readonly responses: Readonly<Record<string, ComparedAnswer>>;
};

export type ComparedApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ComparedOperation>>>>;
  readonly components: { readonly schemas?: Schemas };
};

/** Returns what a client of an earlier OpenAPI document would notice. */
export const findBreakingApiChanges = (before: ComparedApi, after: ComparedApi): readonly string[] => {
  const changes: string[] = [];
  const requests = new SchemaComparison('client', before.components.schemas, after.components.schemas);
  const responses = new SchemaComparison('server', before.components.schemas, after.components.schemas);
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const where = `${method.toUpperCase()} ${path}`;
      const current = after.paths[path]?.[method];
      if (!current) {
        changes.push(`${where} is gone`);
        continue;
      }
      if (current.operationId !== operation.operationId)
        changes.push(`${where} is now named ${current.operationId}, not ${operation.operationId}`);
      changes.push(...findParameterChanges(where, operation, current));
      if (current.requestBody?.required === true && operation.requestBody?.required !== true)
        changes.push(`${where} now requires a body`);
      compareContent(requests, `${where} request`, operation.requestBody?.content, current.requestBody?.content);
      for (const [status, answer] of Object.entries(operation.responses).filter(([status]) => status < '400')) {
        if (current.responses[status])
          compareContent(responses, `${where} ${status}`, answer.content, current.responses[status].content);
        else changes.push(`${where} no longer answers ${status}`);
      }
    }
  }
  return [...changes, ...requests.changes, ...responses.changes];
};

const findParameterChanges = (
  where: string,
  { parameters: before = [] }: ComparedOperation,
  { parameters: after = [] }: ComparedOperation,
): readonly string[] => {
  const find = (list: readonly ComparedParameter[], { name, in: location }: ComparedParameter) =>
    list.find((parameter) => parameter.name === name && parameter.in === location);
  return [
    ...before
      .filter((parameter) => !find(after, parameter))
      .map(({ name }) => `${where}: the parameter ${name} is gone`),
    ...after
      .filter((parameter) => parameter.required && !find(before, parameter)?.required)
      .map(({ name }) => `${where}: the parameter ${name} is now required`),
  ];
};

const compareContent = (
  comparison: SchemaComparison,
  where: string,
  before: ComparedContent = {},
  after: ComparedContent = {},
): void => {
  for (const [mediaType, { schema }] of Object.entries(before)) {
    const current = after[mediaType];
    if (!current) comparison.changes.push(`${where} no longer has the media type ${mediaType}`);
    else if (schema && current.schema) comparison.compare(where, schema, current.schema);
  }
};

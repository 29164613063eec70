import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findToolFile } from './tools.js';

/** A schema as Kubernetes writes it: OpenAPI 2 in its own description, OpenAPI 3 in custom resource definitions. */
type KubernetesSchema = {
  type?: string | readonly string[];
  properties?: Record<string, KubernetesSchema>;
  items?: KubernetesSchema;
  additionalProperties?: KubernetesSchema | boolean;
  $ref?: string;
  enum?: string[];
  'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
};

type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string };

const PREFIX = '#/definitions/';

/** Types that Kubernetes describes as texts and that also accept numbers. */
const TEXTS_OR_NUMBERS = ['.util.intstr.IntOrString', '.api.resource.Quantity'];

/** Makes unknown members an error, as a server with strict validation does. */
const refuseUnknown = (schema: KubernetesSchema): KubernetesSchema => {
  const { properties, items, additionalProperties } = schema;
  const strict = { ...schema };
  if (items) strict.items = refuseUnknown(items);
  if (typeof additionalProperties === 'object') strict.additionalProperties = refuseUnknown(additionalProperties);
  if (!properties) return strict;
  strict.properties = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, refuseUnknown(value)]));
  if (!schema['x-kubernetes-preserve-unknown-fields']) strict.additionalProperties ??= false;
  return strict;
};

const listReferences = (schema: KubernetesSchema): string[] => [
  ...(schema.$ref ? [schema.$ref.slice(PREFIX.length)] : []),
  ...[schema.items, ...Object.values(schema.properties ?? {}), schema.additionalProperties].flatMap((part) =>
    typeof part === 'object' ? listReferences(part) : [],
  ),
];

type KubernetesDefinitions = Readonly<Record<string, KubernetesSchema>>;

/** Returns the definitions that a definition needs, itself included. */
const collectDefinitions = (all: KubernetesDefinitions, name: string): KubernetesDefinitions => {
  const collected: Record<string, KubernetesSchema> = {};
  const pending = [name];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const schema = all[next];
    if (!schema || collected[next]) continue;
    const isTextOrNumber = TEXTS_OR_NUMBERS.some((ending) => next?.endsWith(ending));
    collected[next] = isTextOrNumber ? { type: ['string', 'number'] } : refuseUnknown(schema);
    pending.push(...listReferences(schema));
  }
  return collected;
};

const toFileName = ({ group, version, kind }: GroupVersionKind): string =>
  `${[kind, group.split('.')[0], version].filter(Boolean).join('-')}.json`.toLowerCase();

const writeBuiltIn = async (folder: string, kinds: ReadonlySet<string>): Promise<void> => {
  const { definitions } = JSON.parse(await readFile(await findToolFile('swagger.json'), 'utf8')) as {
    definitions: KubernetesDefinitions;
  };
  for (const [name, schema] of Object.entries(definitions)) {
    const [one, ...others] = schema['x-kubernetes-group-version-kind'] ?? [];
    if (!one || others.length > 0 || !kinds.has(one.kind)) continue;
    const document = { $ref: PREFIX + name, definitions: collectDefinitions(definitions, name) };
    await writeFile(join(folder, toFileName(one)), JSON.stringify(document));
  }
};

type CustomResourceDefinition = {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: KubernetesSchema };
    }[];
  };
};

const writeCustom = async (folder: string, file: string): Promise<void> => {
  const { spec } = JSON.parse(await readFile(await findToolFile(file), 'utf8')) as CustomResourceDefinition;
  for (const { name, schema } of spec.versions) {
    const fileName = toFileName({ group: spec.group, version: name, kind: spec.names.kind });
    await writeFile(join(folder, fileName), JSON.stringify(refuseUnknown(schema.openAPIV3Schema)));
  }
};

/**
 * Writes a strict JSON Schema of each of these kinds of Kubernetes, and of those of the Prometheus Operator, for
 * kubeconform. The schemas that kubeconform would download are made from the same description.
 */
export const writeKubernetesSchemas = async (folder: string, kinds: ReadonlySet<string>): Promise<void> => {
  await writeBuiltIn(folder, kinds);
  for (const file of ['servicemonitors-crd.json', 'prometheusrules-crd.json']) await writeCustom(folder, file);
};

/** Where kubeconform finds the schemas in the folder. */
export const toSchemaLocation = (folder: string): string => join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json');

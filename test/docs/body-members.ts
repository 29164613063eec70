import { z } from 'zod';
import { getTreatment, type Treatment } from '#api/json-api';

/** Members of a body by their names, such as `vcs-repo.branch` and `relationships.project`. */
export type BodyMembers = ReadonlyMap<string, Treatment>;

const SUPPORTED: Treatment = { treatment: 'supported' };

/** Returns the schema inside an optional, nullable, default or transformed schema, or inside a list. */
const innerOf = (schema: z.core.$ZodType): z.core.$ZodType | null => {
  if (schema instanceof z.ZodPipe) return schema.in instanceof z.ZodTransform ? schema.out : schema.in;
  if (schema instanceof z.ZodArray) return schema.element;
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return isWrapper ? schema.unwrap() : null;
};

type Shape = Readonly<Record<string, z.core.$ZodType>>;

const shapeOf = (schema: z.core.$ZodType | undefined): Shape | null => {
  if (!schema) return null;
  if (schema instanceof z.ZodObject) return schema.shape as Shape;
  return shapeOf(innerOf(schema) ?? undefined);
};

/**
 * Returns the treatment of a schema or of a schema inside it. The default is the treatment of the object that contains
 * the member.
 */
const treatmentIn = (schema: z.core.$ZodType | null, ofParent: Treatment): Treatment => {
  if (!schema) return ofParent;
  const own = getTreatment(schema as z.ZodType);
  return own.treatment === 'supported' ? treatmentIn(innerOf(schema), ofParent) : own;
};

const isList = (schema: z.core.$ZodType | null): boolean =>
  schema !== null && (schema instanceof z.ZodArray || isList(innerOf(schema)));

const membersIn = (shape: Shape | null, prefix = '', parent: Treatment = SUPPORTED): [string, Treatment][] =>
  Object.entries(shape ?? {}).flatMap(([name, schema]) => {
    const treatment = treatmentIn(schema, parent);
    const below = isList(schema) ? [] : membersIn(shapeOf(schema), `${prefix}${name}.`, treatment);
    return [[prefix + name, treatment], ...below];
  });

const isClosed = (schema: z.core.$ZodType | null): boolean => {
  if (!schema) return false;
  if (schema instanceof z.ZodObject) return schema.def.catchall instanceof z.ZodNever;
  return isClosed(innerOf(schema));
};

const attributesOf = (body: z.ZodType): z.core.$ZodType | undefined => shapeOf(shapeOf(body)?.['data'])?.['attributes'];

/** Returns whether a body refuses attributes that its schema does not name. */
export const hasClosedAttributes = (body: z.ZodType): boolean => isClosed(attributesOf(body) ?? null);

/** Returns the attributes of a body that refuse members that their schemas do not name. */
export const closedMembersOf = (body: z.ZodType): string[] => {
  const attributes = shapeOf(attributesOf(body)) ?? {};
  return Object.entries(attributes).flatMap(([name, schema]) => (isClosed(schema) ? [name] : []));
};

const relationshipsIn = (shape: Shape | null): [string, Treatment][] =>
  Object.entries(shape ?? {}).map(([name, schema]) => [`relationships.${name}`, treatmentIn(schema, SUPPORTED)]);

/** Returns the attributes and relationships that the schema of a body names, and the members beside `data`. */
export const membersOf = (body: z.ZodType): BodyMembers => {
  const { data, ...besides } = shapeOf(body) ?? {};
  const resource = shapeOf(data) ?? {};
  return new Map([
    ...membersIn(besides),
    ...membersIn(shapeOf(resource['attributes'])),
    ...relationshipsIn(shapeOf(resource['relationships'])),
  ]);
};

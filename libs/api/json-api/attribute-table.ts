import { z } from 'zod';
import { toAttributeName, type AddedMembers, type EventUpcast } from '#platform/kernel';
import { text } from './body-schemas.js';
import { storedOnly } from './member-treatments.js';

/**
 * One attribute of a resource, such as a setting of workspaces. Its type, its default, its place in event schemas, the
 * upcasts of old events and its member of request bodies derive from this definition.
 */
type AttributeDefinition = {
  /** The value in events, snapshots and views. */
  readonly schema: z.ZodType;
  /** The value of new resources if the request does not name the attribute. Absent if the value stays absent then. */
  readonly initial?: unknown;
  /** The member of request bodies. Absent if the module reads the value from members of another form. */
  readonly body?: z.ZodType;
  /** The name of the member if it is not the name of the property in kebab-case. */
  readonly member?: string;
  /** The first schema version of the events that has the attribute. Absent: version 1. */
  readonly since?: number;
};

export type AttributeTable = Readonly<Record<string, AttributeDefinition>>;

/** The same type with readonly members, as deciders handle it. */
type ReadonlyValue<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyValue<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyValue<T[K]> }
    : T;

type SchemaShape<T extends AttributeTable> = { readonly [K in keyof T]: T[K]['schema'] };

/** The values of all attributes of a table. */
export type AttributeValues<T extends AttributeTable> = ReadonlyValue<
  z.output<z.ZodObject<{ -readonly [K in keyof T]: T[K]['schema'] }>>
>;

/** The initial values. Attributes without an initial value are absent. */
type InitialValues<T extends AttributeTable> = {
  readonly [K in keyof T as T[K] extends { readonly initial: unknown } ? K : never]: ReadonlyValue<
    z.output<T[K]['schema']>
  >;
};

type WithValidInitials<T extends AttributeTable> = {
  readonly [K in keyof T]: { readonly initial?: ReadonlyValue<z.output<T[K]['schema']>> };
};

/** `autoApply` → `auto-apply`. */
type MemberName<Name extends string, Done extends string = ''> = Name extends `${infer First}${infer Rest}`
  ? MemberName<Rest, First extends Lowercase<First> ? `${Done}${First}` : `${Done}-${Lowercase<First>}`>
  : Done;

type MemberOf<Name, D extends AttributeDefinition> = D extends { readonly body: z.ZodType }
  ? D extends { readonly member: infer Member extends string }
    ? Member
    : MemberName<Name & string>
  : never;

type BodyOf<D extends AttributeDefinition> = D extends { readonly body: infer Body extends z.ZodType } ? Body : never;

type BodyShape<T extends AttributeTable> = { [K in keyof T as MemberOf<K, T[K]>]: BodyOf<T[K]> };

type BodyInput<T extends AttributeTable> = { readonly [M in keyof BodyShape<T>]?: z.output<BodyShape<T>[M]> };

type BodyValues<T extends AttributeTable> = {
  readonly [K in keyof T as T[K] extends { readonly body: z.ZodType } ? K : never]?: Exclude<
    z.output<BodyOf<T[K]>>,
    undefined
  >;
};

/** By schema version: the attributes of the next version, with the values that earlier resources have. */
type AddedAttributes = Readonly<Record<number, Readonly<Record<string, unknown>>>>;

/** The definitions that derive from a table of attributes. They are built once, when the module loads. */
export type DerivedAttributes<T extends AttributeTable> = {
  /** The shape of the values in events. */
  readonly shape: SchemaShape<T>;
  readonly initial: InitialValues<T>;
  /** The shape of the members in request bodies. */
  readonly body: BodyShape<T>;
  /** Returns the values that a request names, in the order of the table. */
  readonly read: (attributes: BodyInput<T>) => BodyValues<T>;
  /** The schema version of the events that contain the values. */
  readonly version: number;
  readonly addedAfter: AddedAttributes;
  /** The initial values of attributes that came after version 1. Rows of older builds lack them. */
  readonly added: Readonly<Record<string, unknown>>;
};

export const defineAttributes = <const T extends AttributeTable>(
  table: T & WithValidInitials<T>,
): DerivedAttributes<T> => {
  const definitions: readonly (readonly [string, AttributeDefinition])[] = Object.entries<AttributeDefinition>(table);
  const members = definitions.flatMap(([property, { body, member = toAttributeName(property) }]) =>
    body ? [{ property, member, body }] : [],
  );
  const version = Math.max(1, ...definitions.map(([, { since = 1 }]) => since));
  return {
    shape: Object.fromEntries(definitions.map(([property, { schema }]) => [property, schema])) as SchemaShape<T>,
    initial: listInitials(definitions) as InitialValues<T>,
    body: Object.fromEntries(members.map(({ member, body }) => [member, body])) as BodyShape<T>,
    read: (attributes) => {
      const attributeValues = attributes as Readonly<Record<string, unknown>>;
      const values: Record<string, unknown> = {};
      for (const { member, property } of members) {
        if (attributeValues[member] !== undefined) values[property] = attributeValues[member];
      }
      return values as BodyValues<T>;
    },
    version,
    addedAfter: listAdded(definitions, version),
    added: listInitials(definitions.filter(([, { since = 1 }]) => since > 1)),
  };
};

type Definitions = readonly (readonly [string, AttributeDefinition])[];

const listInitials = (definitions: Definitions): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    definitions.flatMap(([property, { initial }]) => (initial === undefined ? [] : [[property, initial]])),
  );

const listAdded = (definitions: Definitions, version: number): AddedAttributes =>
  Object.fromEntries(
    Array.from({ length: version - 1 }, (_, index) => [
      index + 1,
      listInitials(definitions.filter(([, { since = 1 }]) => since === index + 2)),
    ]),
  );

type Table = Pick<DerivedAttributes<AttributeTable>, 'addedAfter'>;

const mapVersions = (
  { addedAfter }: Table,
  map: (add: Readonly<Record<string, unknown>>) => readonly AddedMembers[],
): EventUpcast => Object.fromEntries(Object.entries(addedAfter).map(([version, add]) => [version, map(add)]));

/** Returns the upcast of an event whose data is all values. */
export const upcastData = (table: Table): EventUpcast => mapVersions(table, (add) => [{ add }]);

/** Returns the upcast of an event whose data has all values in this member. */
export const upcastMember = (table: Table, to: string): EventUpcast => mapVersions(table, (add) => [{ to, add }]);

/** Returns the upcast of an event whose data has changed values only: old events stay as they are. */
export const upcastChanges = (table: Table): EventUpcast => mapVersions(table, () => []);

/** An attribute that is true or false. */
export const flag = (initial: boolean) => ({ schema: z.boolean(), initial, body: z.boolean().optional() });

/** A text that can be cleared, of at most so many characters. */
export const nullableText = (most: number) => ({
  schema: z.string().nullable(),
  initial: null,
  body: text(most).nullish(),
});

/** Marks an attribute that the server stores and shows, and that nothing acts on. */
export const storedAttribute = <const D extends { readonly body: z.ZodType }>(definition: D): D => ({
  ...definition,
  body: storedOnly(definition.body),
});

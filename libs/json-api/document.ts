import { toAttributeName } from '#kernel';

/** JSON:API 1.0 documents. @see https://jsonapi.org/format/1.0/ */

export type Identifier = { readonly type: string; readonly id: string };

export type Relationship = {
  readonly data?: Identifier | null | readonly Identifier[];
  readonly links?: { readonly related: string };
};

export type Resource = {
  readonly id: string;
  readonly type: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, Relationship>>;
  readonly links?: Readonly<Record<string, string | null>>;
};

export type Document = {
  readonly data: Resource | readonly Resource[] | null;
  readonly included?: readonly Resource[];
  readonly links?: Readonly<Record<string, string | null>>;
  readonly meta?: Readonly<Record<string, unknown>>;
};

/** `included` is left out where the request asked for none; with `include=` it is there even when empty. */
export const renderDocument = (data: Document['data'], included?: readonly Resource[]): Document =>
  included ? { data, included: deduplicateResources(included) } : { data };

/** JSON:API §7.3: a compound document holds each resource once. */
export const deduplicateResources = (resources: readonly Resource[]): Resource[] => [
  ...new Map(resources.map((resource) => [`${resource.type} ${resource.id}`, resource])).values(),
];

export const toOne = (type: string, id: string | null | undefined, related?: string): Relationship => ({
  data: id ? { type, id } : null,
  ...(related && id ? { links: { related } } : {}),
});

export const toMany = (type: string, ids: readonly string[]): Relationship => ({
  data: ids.map((id) => ({ type, id })),
});

export const linkTo = (related: string): Relationship => ({ links: { related } });

/** `{ autoApply: true }` → `{ 'auto-apply': true }`, one level deep. */
export const toAttributes = (values: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const attributes: Record<string, unknown> = {};
  for (const key in values) attributes[toAttributeName(key)] = values[key];
  return attributes;
};

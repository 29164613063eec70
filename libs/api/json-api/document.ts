import { toAttributeName } from '#platform/kernel';

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

/**
 * Returns a document. `included` is left out if the request has no `include`; with `include=` it is present even if it
 * is empty.
 */
export const renderDocument = (data: Document['data'], included?: readonly Resource[]): Document =>
  included ? { data, included: deduplicateResources(included) } : { data };

/** Returns each resource once, as a compound document requires (JSON:API §7.3). */
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

/** Converts `{ autoApply: true }` to `{ 'auto-apply': true }`, one level deep. */
export const toAttributes = (values: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const attributes: Record<string, unknown> = {};
  for (const key in values) attributes[toAttributeName(key)] = values[key];
  return attributes;
};

import { z } from 'zod';

/** Ids become parts of paths, so they contain no other characters. Organizations are named by their name. */
const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,254}$/);

const identifier = z.object({ id, type: z.string().max(100) });

const relationship = z.object({ data: z.union([identifier, z.array(identifier).max(100_000)]).nullish() });

const resource = identifier.extend({
  attributes: z.record(z.string(), z.unknown()).nullish(),
  relationships: z.record(z.string(), relationship.nullish()).nullish(),
});

/** A resource of another server, of which only the ids have been checked. */
export type ForeignResource = {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The ids of each relationship that the document names. */
  readonly related: Readonly<Record<string, readonly string[]>>;
};

/** A page of a list. `next`: null on the last page. */
type ForeignPage = {
  readonly resources: readonly ForeignResource[];
  /** How many resources of the page are none. */
  readonly malformed: number;
  readonly next: number | null;
};

const toResource = ({ attributes, relationships, ...identity }: z.infer<typeof resource>): ForeignResource => ({
  ...identity,
  attributes: attributes ?? {},
  related: Object.fromEntries(
    Object.entries(relationships ?? {}).map(([name, value]) => [
      name,
      [value?.data ?? []].flat().map((related) => related.id),
    ]),
  ),
});

/** Returns the resource of a document. Throws if the document is none. */
export const parseForeignResource = (document: unknown): ForeignResource =>
  toResource(z.object({ data: resource }).parse(document).data);

const page = z.object({
  data: z.array(z.unknown()).max(1_000),
  meta: z.object({ pagination: z.object({ 'next-page': z.int().nullish() }).nullish() }).nullish(),
});

export const parseForeignPage = (document: unknown): ForeignPage => {
  const { data, meta } = page.parse(document);
  const resources = data.flatMap((value) => {
    const parsed = resource.safeParse(value);
    return parsed.success ? [toResource(parsed.data)] : [];
  });
  return { resources, malformed: data.length - resources.length, next: meta?.pagination?.['next-page'] ?? null };
};

/** Returns the attribute if it is a text, else null. */
export const getText = ({ attributes }: ForeignResource, name: string): string | null => {
  const value = attributes[name];
  return typeof value === 'string' ? value : null;
};

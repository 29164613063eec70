import { z } from 'zod';
import {
  runAllChecks,
  checkBindingCount,
  checkBindings,
  checkFlatTag,
  checkTagCount,
  BINDING_POINTERS,
  unprocessable,
  type Tag,
} from '#platform/kernel';
import { ID, parseBody, typeSchema } from '#api/json-api';
import type { TagReference } from './tag-references.js';

const tagBindings = z.array(
  z.object({
    type: typeSchema('tag-bindings'),
    attributes: z.object({ key: z.string(), value: z.string().nullish() }),
  }),
);

export const tagBindingsBody = z.object({ data: tagBindings });

/** Bindings as a relationship of their owner. */
export const tagBindingsInput = z.object({ data: tagBindings.nullish() }).nullish();

export const flatTagsInput = z.object({
  data: z.array(
    z.object({
      type: typeSchema('tags'),
      id: ID.nullish(),
      attributes: z.object({ name: z.string().nullish() }).nullish(),
    }),
  ),
});

/** Returns the bindings of a list after checking them. `pointer`: pointer to the list in the request. */
const checkBindingList = (data: z.infer<typeof tagBindings>, pointer: string): readonly Tag[] => {
  const bindings = data.map(({ attributes: { key, value } }) => ({ key, value: value ?? '' }));
  checkBindings(bindings, pointer);
  return bindings;
};

/** Returns the bindings of a request to an endpoint of bindings, where flat tags count too. */
export const parseBindings = (body: unknown): readonly Tag[] => {
  const { data } = parseBody(tagBindingsBody, body);
  checkBindingCount(data.length, '/data');
  return checkBindingList(data, '/data');
};

/** Returns undefined if the request has no list, which means no change. Null clears the bindings like an empty list. */
export const toBindings = (input: z.infer<typeof tagBindingsInput>): readonly Tag[] | undefined =>
  input?.data === undefined ? undefined : checkBindingList(input.data ?? [], BINDING_POINTERS.bindings);

/**
 * Returns the tags of a request. Clients may send whole tags as they read them: an id takes precedence over a name.
 * Refuses entries with neither.
 */
const parseTagReferences = ({ data }: z.infer<typeof flatTagsInput>, pointer: string): readonly TagReference[] => {
  checkTagCount(data.length, pointer);
  const checks = data.map(({ id, attributes }, index) => () => {
    if (id || attributes?.name) return;
    if (attributes?.name === '') throw unprocessable("Name can't be blank", `${pointer}/${index}/attributes/name`);
    throw unprocessable('Tag must have an id or a name', `${pointer}/${index}`);
  });
  runAllChecks(...checks);
  return data.map(({ id, attributes }) => (id ? { id } : { name: attributes?.name ?? '' }));
};

/** Returns tags to add, by id or by name. Refuses names that no tag can have. */
export const parseFlatTags = (
  input: z.infer<typeof flatTagsInput>,
  pointer: string = BINDING_POINTERS.tags,
): readonly TagReference[] => {
  const references = parseTagReferences(input, pointer);
  const checks = references.map((reference, index) => () => {
    if ('name' in reference) checkFlatTag(reference.name, `${pointer}/${index}/attributes/name`);
  });
  runAllChecks(...checks);
  return references;
};

/** Returns tags to remove. A name that no tag can have matches none and is ignored. */
export const parseTagsToRemove = (body: unknown): readonly TagReference[] =>
  parseTagReferences(parseBody(flatTagsInput, body), '/data');

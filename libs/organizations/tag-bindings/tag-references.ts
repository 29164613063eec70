/** A flat tag in a request: by id or by name. */
export type TagReference = { readonly id: string } | { readonly name: string };

export type TagNames = Readonly<Record<string, string>>;

export const listTagIds = (tags: readonly TagReference[]): readonly string[] =>
  tags.flatMap((tag) => ('id' in tag ? [tag.id] : []));

/** Returns the names of the tags, in the same order. Throws `refusal` for the first unknown id. */
export const resolveTagNames = (
  tags: readonly TagReference[],
  namesById: TagNames,
  refusal: (id: string, index: number) => Error,
): readonly string[] =>
  tags.map((tag, index) => {
    if ('name' in tag) return tag.name;
    // Own properties only: an id such as `constructor` is no tag.
    const name = Object.hasOwn(namesById, tag.id) ? namesById[tag.id] : undefined;
    if (name === undefined) throw refusal(tag.id, index);
    return name;
  });

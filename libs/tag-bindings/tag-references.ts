/** A flat tag as a request names it. */
export type TagReference = { readonly id: string } | { readonly name: string };

/** Names of tags by their ids, as far as there are such tags. */
export type TagNames = Readonly<Record<string, string>>;

export const listTagIds = (tags: readonly TagReference[]): readonly string[] =>
  tags.flatMap((tag) => ('id' in tag ? [tag.id] : []));

/** The names of all of them, in their order; `refusal` of the first id that stands for none. */
export const resolveTagNames = (
  tags: readonly TagReference[],
  known: TagNames,
  refusal: (id: string, index: number) => Error,
): readonly string[] =>
  tags.map((tag, index) => {
    if ('name' in tag) return tag.name;
    // Own members only: an id such as `constructor` names no tag.
    const name = Object.hasOwn(known, tag.id) ? known[tag.id] : undefined;
    if (name === undefined) throw refusal(tag.id, index);
    return name;
  });

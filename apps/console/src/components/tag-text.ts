type TagParts = { readonly key: string; readonly value: string };

/** Returns `key=value`, or the key of a tag without a value. */
export const formatTag = ({ key, value }: TagParts): string => (value === '' ? key : `${key}=${value}`);

/** Returns the tag, and whether it comes from the project. */
export const describeTag = (tag: TagParts & { readonly isInherited: boolean }): string =>
  tag.isInherited ? `${formatTag(tag)} (of the project)` : formatTag(tag);

/** Returns the parts of `key=value`. The value can contain `=`; a text without it is a tag without a value. */
export const parseTag = (text: string): TagParts => {
  const [key = '', ...value] = text.split('=');
  return { key: key.trim(), value: value.join('=').trim() };
};

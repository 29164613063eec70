/** Returns whether the tag is in a list of tags. Weak tags count as strong ones (RFC 9110 §13.1.2). */
export const matchesEtag = (tags: string | undefined, tag: string): boolean => {
  const opaque = (text: string): string => text.trim().replace(/^W\//, '');
  return (tags ?? '').split(',').some((one) => ['*', opaque(tag)].includes(opaque(one)));
};

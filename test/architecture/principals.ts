/** Samples of event data. */
export type JsonObjectTree = Record<string, unknown>;

export const isTree = (value: unknown): value is JsonObjectTree => typeof value === 'object' && value !== null;

/** Returns whether the value is a principal: { type, id, name }. Outputs also have these members. */
export const isPrincipal = (value: JsonObjectTree): boolean =>
  ['type', 'id', 'name'].every((key) => key in value) && !('sensitive' in value);

/** Returns the sample with a user as every principal. */
export const listUserPrincipals = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(listUserPrincipals);
  if (!isTree(value)) return value;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, listUserPrincipals(member)]));
  return isPrincipal(value) ? { ...members, type: 'users' } : members;
};

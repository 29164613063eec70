/** Samples of data in which people are looked for. */
export type JsonObjectTree = Record<string, unknown>;

export const isTree = (value: unknown): value is JsonObjectTree => typeof value === 'object' && value !== null;

/** { type, id, name } is somebody; but outputs have these as well. */
export const isPrincipal = (value: JsonObjectTree): boolean =>
  ['type', 'id', 'name'].every((key) => key in value) && !('sensitive' in value);

/** The sample with users where anybody is named. */
export const listUserPrincipals = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(listUserPrincipals);
  if (!isTree(value)) return value;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, listUserPrincipals(member)]));
  return isPrincipal(value) ? { ...members, type: 'users' } : members;
};

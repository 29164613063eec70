/** Samples of data in which people are looked for. */
export type Tree = Record<string, unknown>;

export const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** { type, id, name } is somebody; but outputs have these as well. */
export const isSomebody = (value: Tree): boolean =>
  ['type', 'id', 'name'].every((key) => key in value) && !('sensitive' in value);

/** The sample with users where anybody is named. */
export const ofUsers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ofUsers);
  if (!isTree(value)) return value;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, ofUsers(member)]));
  return isSomebody(value) ? { ...members, type: 'users' } : members;
};

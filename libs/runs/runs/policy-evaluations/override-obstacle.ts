/** Ids of the authors of a run. Null if they cannot be found. */
export type RunAuthors = readonly string[] | null;

/** Why the caller cannot override the policies of the run; null if nothing of the run prevents it. */
export type OverrideObstacle = 'no-person' | 'author' | 'unknown-authors' | null;

type Overrider = { readonly kind: string; readonly id: string; readonly teams: readonly string[] };

/** Returns what of the run prevents an override. The permission of the caller is another matter. */
export const findOverrideObstacle = (actor: Overrider, authors: RunAuthors): OverrideObstacle => {
  if (actor.kind !== 'user') return 'no-person';
  if (authors === null) return 'unknown-authors';
  return authors.some((id) => id === actor.id || actor.teams.includes(id)) ? 'author' : null;
};

import type { ApiResource } from '#packages/client';

type ResourceIdentity = { readonly type: string; readonly id: string };

/** A document with resources that relationships of its data identify. */
type IncludingDocument<I extends ResourceIdentity> = { readonly included?: readonly I[] };

/** Returns the included resource that a relationship identifies, or null. */
export const findIncluded = <I extends ResourceIdentity, T extends I['type']>(
  { included }: IncludingDocument<I>,
  identifier: { readonly type: T; readonly id: string } | null | undefined,
): Extract<I, { readonly type: T }> | null =>
  included?.find(
    (each): each is Extract<I, { readonly type: T }> => each.type === identifier?.type && each.id === identifier.id,
  ) ?? null;

type HolderIdentifier = { readonly type: 'users' | 'teams' | 'runs'; readonly id: string } | null;
type NamedResource = ApiResource<'User'> | ApiResource<'Team'> | ApiResource<'Run'>;

const isNamed = (resource: ResourceIdentity): resource is NamedResource =>
  ['users', 'teams', 'runs'].includes(resource.type);

/** Returns who holds a lock or created something: the name of a person or a team, or the message of a run. */
export const describeHolder = (
  { included = [] }: IncludingDocument<ResourceIdentity>,
  holder: HolderIdentifier,
): string => {
  if (holder === null) return 'somebody';
  const resource = included.filter(isNamed).find(({ type, id }) => type === holder.type && id === holder.id);
  if (holder.type === 'runs') {
    const message = resource?.type === 'runs' ? resource.attributes.message : '';
    return message === '' ? `run ${holder.id}` : `run “${message}”`;
  }
  if (!resource) return holder.type === 'teams' ? 'a team' : 'somebody';
  if (resource.type === 'teams') return `team ${resource.attributes.name}`;
  return resource.type === 'users' ? resource.attributes.username : 'somebody';
};

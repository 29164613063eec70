import { createHash } from 'node:crypto';
import type { Resource } from '#json-api';
import type { Tag } from './tags.js';

/**
 * Ids of tags and bindings are made of what they name: a tag is the same one wherever in the organization it is used,
 * with no row to reserve, and two workspaces that invent a tag at once agree on its id.
 */
const idOf = (prefix: string, ...parts: readonly string[]): string =>
  `${prefix}-${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)}`;

export const tagId = (organization: string, name: string): string => idOf('tag', organization, name);

/** A flat tag shows as a binding with an empty value (clients.md §7). */
export const tagBindingResource = (
  owner: string,
  { key, value }: Tag,
  type: 'tag-bindings' | 'effective-tag-bindings',
): Resource => ({ id: idOf('tb', owner, key), type, attributes: { key, value: value ?? '' } });

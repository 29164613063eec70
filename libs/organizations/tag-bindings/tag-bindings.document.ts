import { createHash } from 'node:crypto';
import type { Resource } from '#api/json-api';
import type { TagBindingColumns } from './tag-inheritance.queries.js';
import type { BindingRow } from './tag-bindings.queries.js';

/**
 * Derives the id of a tag or binding from its name: a tag has one id in the whole organization without a row of its
 * own, and two workspaces that create a tag at once get the same id.
 */
const deriveId = (prefix: string, ...parts: readonly string[]): string =>
  `${prefix}-${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)}`;

export const deriveTagId = (organization: string, name: string): string => deriveId('tag', organization, name);

/** `owner`: id of the workspace or project that binds the tag. */
export const deriveTagBindingId = (owner: string, key: string): string => deriveId('tb', owner, key);

/** A flat tag shows as a binding with an empty value. */
const toBindingAttributes = ({ key, value, setAt, setBy }: TagBindingColumns): Resource['attributes'] => ({
  key,
  value: value ?? '',
  'set-at': setAt,
  'set-by': setBy,
});

export const renderTagBinding = (binding: BindingRow): Resource => ({
  id: deriveTagBindingId(binding.owner, binding.key),
  type: 'tag-bindings',
  attributes: { ...toBindingAttributes(binding), 'forbidden-by': binding.forbiddenBy },
});

/** Only inherited bindings have links. */
export const renderEffectiveTagBinding = (binding: BindingRow): Resource => ({
  id: deriveTagBindingId(binding.inheritedFrom ?? binding.owner, binding.key),
  type: 'effective-tag-bindings',
  attributes: { ...toBindingAttributes(binding), 'forbidden-by': binding.forbiddenBy },
  ...(binding.inheritedFrom ? { links: { 'inherited-from': `/api/v2/projects/${binding.inheritedFrom}` } } : {}),
});

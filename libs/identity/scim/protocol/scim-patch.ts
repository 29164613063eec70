import type { ScimOperation } from './scim-bodies.js';
import { parseScimFilter, type ScimFilter } from './scim-filter.js';
import { ScimRefusal } from './scim-refusal.js';

/** What a path names: an attribute, the values of it that match a filter, and an attribute of these values. */
type PatchPath = { readonly name: string; readonly filter: ScimFilter | null; readonly part: string | null };

/** An operation on one attribute. `value` is undefined without one. */
export type PatchStep = PatchPath & { readonly op: ScimOperation['op']; readonly value: unknown };

const MAX_PATH_LENGTH = 500;
const PATH = /^(?:urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):)?([a-z]+)(?:\[(.*)\])?(?:\.([a-z]+))?$/i;

const refusePath = (path: string, reason: string): ScimRefusal =>
  new ScimRefusal('invalidPath', `path: ${JSON.stringify(path.slice(0, 100))} ${reason}`);

/** Returns the parsed path with the spelling of the known attribute; null if it names another attribute. */
const parsePath = (path: string, knownNames: readonly string[]): PatchPath | null => {
  if (path.length > MAX_PATH_LENGTH) throw refusePath(path, `has more than ${MAX_PATH_LENGTH} characters`);
  const [, root = '', filter, part = null] = PATH.exec(path) ?? [];
  const name = knownNames.find((one) => one.toLowerCase() === root.toLowerCase());
  if (name !== undefined) return { name, part, filter: filter === undefined ? null : parseScimFilter(filter) };
  const isKnown = knownNames.some((one) => path.toLowerCase().startsWith(one.toLowerCase()));
  if (isKnown && !/^[\w$-]+(?:\.|$)/.test(path)) throw refusePath(path, 'is not valid');
  return null;
};

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the steps of a patch (RFC 7644 §3.5.2) on known attributes. The server ignores other attributes, such as names
 * and departments. Without a path, the value is an object, and its keys can be paths, as Microsoft Entra sends them.
 */
export const listPatchSteps = (
  operations: readonly ScimOperation[],
  knownNames: readonly string[],
): readonly PatchStep[] =>
  operations.flatMap(({ op, path, value }): PatchStep[] => {
    if (path) {
      const target = parsePath(path, knownNames);
      return target ? [{ ...target, op, value }] : [];
    }
    if (op === 'remove') throw new ScimRefusal('noTarget', 'path: a remove operation must name what it removes');
    if (!isRecord(value))
      throw new ScimRefusal('invalidValue', 'value: must be an object in an operation without a path');
    return Object.entries(value).flatMap(([name, inner]) => {
      const target = parsePath(name, knownNames);
      return target ? [{ ...target, op, value: inner }] : [];
    });
  });

/** Returns the new value of an attribute that has one value. */
export const readSingleValue = ({ name, filter, part, op, value }: PatchStep): unknown => {
  if (filter !== null || part !== null) throw refusePath(name, 'has one value and no parts');
  return op === 'remove' ? null : value;
};

/** Returns the values of a multi-valued attribute. Some identity providers send one value without a list. */
export const listValues = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : [value].flat();

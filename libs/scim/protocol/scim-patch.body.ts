import { scimPatch, type ScimPatchOperation, type ScimResource as PatchableResource } from 'scim-patch';
import type { ScimOperation } from './scim-bodies.js';
import type { ScimResource } from './scim-list.js';
import { ScimRefusal } from './scim-refusal.js';

/** Names that reach the prototypes of objects. */
const DANGEROUS = /(?:^|[^A-Za-z])(?:__proto__|constructor|prototype)(?:$|[^A-Za-z])/;

const checkNames = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth > 8) throw new ScimRefusal('invalidValue', 'value: is nested too deeply');
  for (const [name, inner] of Object.entries(value)) {
    if (DANGEROUS.test(name)) throw new ScimRefusal('invalidPath', `${name.slice(0, 100)}: is not an attribute`);
    checkNames(inner, depth + 1);
  }
};

const SCHEMA_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;

/** Returns the path with the spelling of the known attribute; null if the path names none. */
const toKnownPath = (path: string, knownNames: readonly string[]): string | null => {
  if (DANGEROUS.test(path)) throw new ScimRefusal('invalidPath', `path: ${path.slice(0, 100)} is not an attribute`);
  const local = path.replace(SCHEMA_PREFIX, '');
  const root = /^[A-Za-z]+/.exec(local)?.[0] ?? '';
  const rest = local.slice(root.length);
  const name = knownNames.find((one) => one.toLowerCase() === root.toLowerCase());
  return name !== undefined && (rest === '' || rest.startsWith('.') || rest.startsWith('[')) ? name + rest : null;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the operations on known attributes. The server ignores other attributes, such as names and departments. */
const normalize = ({ op, path, value }: ScimOperation, knownNames: readonly string[]): ScimOperation[] => {
  checkNames(value);
  if (path !== undefined && path !== '') {
    const knownPath = toKnownPath(path, knownNames);
    return knownPath === null ? [] : [{ op, path: knownPath, ...(value === undefined ? {} : { value }) }];
  }
  if (op === 'remove') throw new ScimRefusal('noTarget', 'path: remove needs one');
  if (!isRecord(value))
    throw new ScimRefusal('invalidValue', 'value: must be an object in an operation without a path');
  // One operation for each attribute: keys can be paths, as Microsoft Entra sends them.
  return Object.entries(value).flatMap(([name, inner]) => normalize({ op, path: name, value: inner }, knownNames));
};

type MemberReference = { readonly value: string };

const listMembers = (resource: ScimResource): readonly MemberReference[] =>
  (resource['members'] ?? []) as readonly MemberReference[];

/** The package compares each pair of members, which takes seconds for thousands of them. */
const addMembers = (resource: ScimResource, value: unknown): ScimResource => {
  const present = new Set(listMembers(resource).map((member) => member.value));
  const added = [value].flat().filter((member: unknown) => !(isRecord(member) && present.has(String(member['value']))));
  return { ...resource, members: [...listMembers(resource), ...added] };
};

/**
 * Members are removed by value, and identity providers send only `value` of each (Microsoft Entra, OneLogin), so a
 * member's other attributes must not matter.
 */
const removeMembers = (resource: ScimResource, value: unknown): ScimResource => {
  const removed = new Set([value].flat().map((member: unknown) => (isRecord(member) ? member['value'] : member)));
  return { ...resource, members: listMembers(resource).filter((member) => !removed.has(member.value)) };
};

/** Applies a patch (RFC 7644 §3.5.2), also in the dialects of Microsoft Entra and Okta. */
export const applyScimPatch = (
  resource: ScimResource,
  operations: readonly ScimOperation[],
  knownNames: readonly string[],
): ScimResource => {
  const normalized = operations.flatMap((operation) => normalize(operation, knownNames));
  try {
    return normalized.reduce<ScimResource>((patched, operation) => {
      if (operation.op === 'remove' && operation.path === 'members' && operation.value !== undefined) {
        return removeMembers(patched, operation.value);
      }
      if (operation.op === 'add' && operation.path === 'members') return addMembers(patched, operation.value);
      const value = operation.path === 'members' && isRecord(operation.value) ? [operation.value] : operation.value;
      const one = { ...operation, ...(value === undefined ? {} : { value }) } as unknown as ScimPatchOperation;
      return scimPatch(patched as unknown as PatchableResource, [one], {
        mutateDocument: false,
        treatMissingAsAdd: true,
      }) as unknown as ScimResource;
    }, resource);
  } catch (error) {
    if (error instanceof ScimRefusal) throw error;
    throw new ScimRefusal(
      'invalidPath',
      `Operations: ${error instanceof Error ? error.message.slice(0, 200) : 'invalid'}`,
    );
  }
};

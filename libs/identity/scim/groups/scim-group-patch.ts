import { parseScimBody, scimGroupBody, type ScimOperation } from '../protocol/scim-bodies.js';
import { matchesFilter } from '../protocol/scim-filter.js';
import { listPatchSteps, listValues, readSingleValue, type PatchStep } from '../protocol/scim-patch.js';
import { ScimRefusal } from '../protocol/scim-refusal.js';

/** A member in a patch. */
type PatchedMember = { readonly value: string; readonly display?: string };

/** The attributes of a group that a patch can change. */
type PatchedGroup = {
  readonly displayName: unknown;
  readonly externalId: unknown;
  readonly members: readonly PatchedMember[];
};

const NAMES = ['displayName', 'externalId', 'members'];

/** Returns the attributes of the group after the patch. Its names are not valid yet. */
export const patchGroup = (present: PatchedGroup, operations: readonly ScimOperation[]): PatchedGroup => {
  // A map, because each of a hundred operations may concern thousands of members.
  const members = new Map(present.members.map((member) => [member.value, member]));
  const names = { displayName: present.displayName, externalId: present.externalId };
  for (const step of listPatchSteps(operations, NAMES)) {
    if (step.name === 'members') changeMembers(members, step);
    else Object.assign(names, { [step.name]: readSingleValue(step) });
  }
  return { ...names, members: [...members.values()] };
};

const changeMembers = (members: Map<string, PatchedMember>, step: PatchStep): void => {
  const { op, filter, part, value } = step;
  if (part !== null || (filter !== null && op !== 'remove')) {
    throw new ScimRefusal('invalidPath', 'path: members can be added and removed, and not changed');
  }
  if (op === 'remove') {
    for (const member of listRemoved(members, step)) members.delete(member);
    return;
  }
  if (op === 'replace') members.clear();
  for (const member of readMembers(value)) if (!members.has(member)) members.set(member, { value: member });
};

const listRemoved = (members: ReadonlyMap<string, PatchedMember>, { filter, value }: PatchStep): readonly string[] => {
  if (filter === null) return value === undefined ? [...members.keys()] : readMembers(value);
  // Identity providers send up to a hundred of these, each with one member.
  if (filter.op === 'eq' && filter.path === 'value') return [String(filter.value)];
  return [...members.values()].filter((member) => matchesFilter(filter, member)).map((member) => member.value);
};

/** Returns the ids in a list of members. Some identity providers send ids instead of objects. */
const readMembers = (value: unknown): readonly string[] => {
  const list = listValues(value).map((member) => (typeof member === 'string' ? { value: member } : member));
  const { members } = parseScimBody(scimGroupBody.pick({ members: true }), { members: list });
  return (members ?? []).map((member) => member.value);
};

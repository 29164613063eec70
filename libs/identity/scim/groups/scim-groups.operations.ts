import { unprocessable, type EventContext } from '#platform/kernel';
import { decideWrite, newStream, type EventStore } from '#storage/event-store';
import { createEventContext, type Actor } from '#api/access';
import { getViolatedConstraint } from '#platform/postgres';
import { parseScimBody, scimGroupBody, type ScimGroupInput, type ScimOperation } from '../protocol/scim-bodies.js';
import { loadSource } from '../protocol/scim-source.queries.js';
import { ScimRefusal } from '../protocol/scim-refusal.js';
import { getGroupKey, scimGroup, type ScimGroupCommand, type ScimGroupNames } from './scim-group.js';
import { patchGroup } from './scim-group-patch.js';
import { countScimGroups, findScimGroup, listUnknownMembers, type ScimGroupRow } from './scim-groups.queries.js';
import { mapTeams, type ScimGroupDependencies } from './scim-teams.writes.js';

const MAX_GROUPS = 10_000;

/**
 * Users whose teams change before the response. The follower of libs/identity/scim changes the teams of the others, because a
 * group can have thousands of members, and identity providers wait for a minute or less.
 */
const MAX_USERS_MAPPED_AT_ONCE = 100;

const refuseTaken = (error: unknown): never => {
  if (getViolatedConstraint(error) === 'scim_groups_display_name_key') {
    throw new ScimRefusal('uniqueness', 'displayName: another group has it already');
  }
  throw error;
};

const mapNow = (dependencies: ScimGroupDependencies, keys: readonly string[], context: EventContext): Promise<void> =>
  mapTeams(dependencies, keys, context, MAX_USERS_MAPPED_AT_ONCE);

/** Returns the ids of the members. Throws `invalidValue` for an id that is none of a user of SCIM. */
const listMembers = async (
  store: EventStore,
  actor: Actor,
  { members }: ScimGroupInput,
): Promise<readonly string[]> => {
  const ids = [...new Set((members ?? []).map(({ value }) => value))];
  const [unknown] = ids.length === 0 ? [] : await listUnknownMembers(store.database, actor, ids);
  if (unknown !== undefined) {
    throw new ScimRefusal('invalidValue', `members: ${unknown} is not the id of a user that SCIM manages`);
  }
  return ids;
};

const getNames = ({ displayName, externalId = null }: ScimGroupInput): ScimGroupNames => ({ displayName, externalId });

export const createScimGroup = async (
  dependencies: ScimGroupDependencies,
  input: ScimGroupInput,
  actor: Actor,
): Promise<ScimGroupRow> => {
  const { store, ids } = dependencies;
  const context = createEventContext(actor);
  const source = await loadSource(store.database, actor);
  if ((await countScimGroups(store.database, MAX_GROUPS)) === MAX_GROUPS) {
    throw unprocessable(`The site can have at most ${MAX_GROUPS} groups. Delete one, or assign fewer groups`);
  }
  const members = await listMembers(store, actor, input);
  const id = ids.next('scg');
  const commands: readonly ScimGroupCommand[] = [
    { type: 'CreateScimGroup', data: { ...getNames(input), source } },
    { type: 'SetScimGroupMembers', data: { members } },
  ];
  await store.append([decideWrite(scimGroup, newStream(id, scimGroup), null, ...commands)], context).catch(refuseTaken);
  await mapNow(dependencies, [getGroupKey(getNames(input))], context);
  return findScimGroup(store.database, actor, id);
};

/** Replaces names and members of a group: `read` returns them from the present ones. */
const updateScimGroup = async (
  dependencies: ScimGroupDependencies,
  id: string,
  actor: Actor,
  read: (present: ScimGroupRow) => ScimGroupInput,
): Promise<ScimGroupRow> => {
  const { store } = dependencies;
  const context = createEventContext(actor);
  const work = async (): Promise<readonly string[]> => {
    // First, because the append then fails if the members that are read next belong to a later version.
    const loaded = await store.load(id, scimGroup);
    const present = await findScimGroup(store.database, actor, id);
    const input = read(present);
    const names = getNames(input);
    const commands: readonly ScimGroupCommand[] = [
      { type: 'UpdateScimGroup', data: { names } },
      { type: 'SetScimGroupMembers', data: { members: await listMembers(store, actor, input) } },
    ];
    const write = decideWrite(scimGroup, loaded, null, ...commands);
    if (write.events.length > 0) await store.append([write], context);
    return [getGroupKey(present), getGroupKey(names)];
  };
  const keys = await store.retryOnConflict(work).catch(refuseTaken);
  await mapNow(dependencies, [...new Set(keys)], context);
  return findScimGroup(store.database, actor, id);
};

export const replaceScimGroup = (
  dependencies: ScimGroupDependencies,
  id: string,
  input: ScimGroupInput,
  actor: Actor,
): Promise<ScimGroupRow> => updateScimGroup(dependencies, id, actor, () => input);

export const patchScimGroup = (
  dependencies: ScimGroupDependencies,
  id: string,
  operations: readonly ScimOperation[],
  actor: Actor,
): Promise<ScimGroupRow> =>
  updateScimGroup(dependencies, id, actor, ({ displayName, externalId, members }) => {
    const patched = patchGroup({ displayName, externalId, members: members ?? [] }, operations);
    return parseScimBody(scimGroupBody, patched);
  });

/** Deletes the group, and removes its members from its teams. */
export const deleteScimGroup = async (dependencies: ScimGroupDependencies, id: string, actor: Actor): Promise<void> => {
  const { store } = dependencies;
  const context = createEventContext(actor);
  const present = await findScimGroup(store.database, actor, id, false);
  await store.handle({
    decider: scimGroup,
    load: () => store.load(id, scimGroup),
    command: () => ({ type: 'DeleteScimGroup', data: {} }) as const,
    organization: () => null,
    context,
  });
  await mapNow(dependencies, [getGroupKey(present)], context);
};

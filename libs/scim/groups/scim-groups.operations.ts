import { Refusal } from '#kernel';
import { decideWrite, newStream, type EventStore } from '#event-store';
import { createEventContext, requirePermission, SITE_SCOPE, verifyCurrentAccess, type Actor } from '#access';
import { mapGroupsToTeams } from '#people';
import { getViolatedConstraint } from '#postgres';
import { parseScimBody, scimGroupBody, type ScimGroupInput, type ScimOperation } from '../protocol/scim-bodies.js';
import { applyScimPatch } from '../protocol/scim-patch.body.js';
import { ScimRefusal } from '../protocol/scim-refusal.js';
import type { ScimDependencies } from '../users/scim-users.operations.js';
import { getGroupKey, scimGroup, type ScimGroupCommand } from './scim-group.js';
import { renderScimGroup } from './scim-groups.document.js';
import { findScimGroup, listUnknownMembers, listUsersToMap, type ScimGroupRow } from './scim-groups.queries.js';

/** Attributes of groups that a patch can change. */
const PATCHED = ['displayName', 'externalId', 'members'];

const refuseTaken = (error: unknown): never => {
  if (getViolatedConstraint(error) === 'scim_groups_display_name_key') {
    throw new ScimRefusal('uniqueness', 'displayName: another group has it already');
  }
  throw error;
};

/**
 * Makes the teams with one of these `sso_team_id` match the groups. It compares all members and not only the changed
 * ones, so a repeated request completes an interrupted one.
 */
const mapTeams = async (
  { store, ids }: ScimDependencies,
  keys: readonly string[],
  actor: Actor,
  except: string | null = null,
): Promise<void> => {
  const context = createEventContext(actor);
  for (const { user, groups } of await listUsersToMap(store.database, keys, except)) {
    await mapGroupsToTeams({ store, ids }, { user, groups, managed: keys }, context).catch((error: unknown) => {
      // A user who was forgotten at the same time has no teams.
      if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
    });
  }
};

const listMembers = async (store: EventStore, { members }: ScimGroupInput): Promise<readonly string[]> => {
  const ids = [...new Set((members ?? []).map(({ value }) => value))];
  const [unknown] = ids.length === 0 ? [] : await listUnknownMembers(store.database, ids);
  if (unknown !== undefined) {
    throw new ScimRefusal('invalidValue', `members: ${unknown} is not the id of a user that SCIM manages`);
  }
  return ids;
};

const getNames = ({ displayName, externalId = null }: ScimGroupInput) => ({ displayName, externalId });

export const createScimGroup = async (
  dependencies: ScimDependencies,
  input: ScimGroupInput,
  actor: Actor,
): Promise<ScimGroupRow> => {
  const { store, ids } = dependencies;
  await verifyCurrentAccess(store.database, actor);
  requirePermission(actor, 'provision-users', SITE_SCOPE);
  const members = await listMembers(store, input);
  const id = ids.next('scg');
  const write = decideWrite(
    scimGroup,
    newStream(id, scimGroup),
    null,
    { type: 'CreateScimGroup', data: getNames(input) },
    { type: 'SetScimGroupMembers', data: { members } },
  );
  await store.append([write], createEventContext(actor)).catch(refuseTaken);
  await mapTeams(dependencies, [getGroupKey(getNames(input))], actor);
  return findScimGroup(store.database, actor, id);
};

/** Replaces names and members of a group: `read` returns them from the present ones. */
const updateScimGroup = async (
  dependencies: ScimDependencies,
  id: string,
  actor: Actor,
  read: (present: ScimGroupRow) => ScimGroupInput,
): Promise<ScimGroupRow> => {
  const { store } = dependencies;
  const present = await findScimGroup(store.database, actor, id);
  const [oldKey, newKey] = [getGroupKey(present), getGroupKey(getNames(read(present)))];
  // First, because later no group would have the old key, and its teams would keep their members.
  if (oldKey !== newKey) await mapTeams(dependencies, [oldKey], actor, id);
  await store
    .untilFirst(async () => {
      const loaded = await store.load(id, scimGroup);
      const input = read(await findScimGroup(store.database, actor, id));
      const commands: readonly ScimGroupCommand[] = [
        { type: 'UpdateScimGroup', data: { names: getNames(input) } },
        { type: 'SetScimGroupMembers', data: { members: await listMembers(store, input) } },
      ];
      const write = decideWrite(scimGroup, loaded, null, ...commands);
      if (write.events.length > 0) await store.append([write], createEventContext(actor));
    })
    .catch(refuseTaken);
  await mapTeams(dependencies, [newKey], actor);
  return findScimGroup(store.database, actor, id);
};

export const replaceScimGroup = (
  dependencies: ScimDependencies,
  id: string,
  input: ScimGroupInput,
  actor: Actor,
): Promise<ScimGroupRow> => updateScimGroup(dependencies, id, actor, () => input);

export const patchScimGroup = (
  dependencies: ScimDependencies,
  id: string,
  operations: readonly ScimOperation[],
  actor: Actor,
): Promise<ScimGroupRow> =>
  updateScimGroup(dependencies, id, actor, (present) =>
    parseScimBody(scimGroupBody, applyScimPatch(renderScimGroup(present), operations, PATCHED)),
  );

/** Removes the members from the group's teams, and then deletes the group, so that a repeated request completes it. */
export const deleteScimGroup = async (dependencies: ScimDependencies, id: string, actor: Actor): Promise<void> => {
  const { store } = dependencies;
  const present = await findScimGroup(store.database, actor, id);
  await mapTeams(dependencies, [getGroupKey(present)], actor, id);
  await store.handle({
    decider: scimGroup,
    load: () => store.load(id, scimGroup),
    command: () => ({ type: 'DeleteScimGroup', data: {} }) as const,
    organization: () => null,
    context: createEventContext(actor),
  });
};

import { Refusal, sql, type EventContext, type Ids, type Sql } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { listUsersToMap, mapGroupsToTeams, type ProvidedGroups } from '#identity/people';
import type { GroupStatements } from './group-statements.port.js';
import { scimGroup } from './scim-group.js';

export type ScimTeamDependencies = { readonly store: EventStore; readonly ids: Ids };
export type ScimGroupDependencies = ScimTeamDependencies & { readonly statements: GroupStatements };

/** The members of groups with one of these keys. */
const selectMembers = (keys: readonly string[]): Sql => sql`
  select m.user_id, coalesce(g.external_id, g.display_name) as key
    from scim_groups g join scim_group_members m on m.group_id = g.id join scim_users s on s.id = m.user_id
   where coalesce(g.external_id, g.display_name) = any (${keys}::text[]) and not s.deprovisioned`;

/**
 * Makes the teams with one of these `sso_team_id` match the groups, for at most `most` users. It compares all members and
 * not only the changed ones, so it also completes work that was interrupted. Users stay in teams of groups that an identity
 * provider has stated at their sign-in.
 */
export const mapTeams = async (
  { store, ids, statements }: ScimGroupDependencies,
  keys: readonly string[],
  context: EventContext,
  most: number,
): Promise<void> => {
  const isManaged = (user: Sql): Sql => sql`exists (select 1 from scim_users s where s.id = ${user})`;
  const isKept: ProvidedGroups['isKept'] = (member) => statements.isStated(member);
  const provided = { keys, members: selectMembers(keys), isManaged, isKept };
  const users = await listUsersToMap(store.database, provided);
  for (const { user, groups } of users.slice(0, most)) {
    const stated = await statements.list(store.database, user);
    const ofOwners = { groups: [...groups, ...stated.ownersGroups], managed: keys };
    const userGroups = { user, groups: [...groups, ...stated.groups], managed: keys, ofOwners };
    await mapGroupsToTeams({ store, ids }, userGroups, context).catch((error: unknown) => {
      // A user who was forgotten at the same time has no teams.
      if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
    });
  }
};

/** Removes a user from all groups, and from the teams of these groups. */
export const leaveGroups = async (
  { store, ids }: ScimTeamDependencies,
  user: string,
  context: EventContext,
): Promise<void> => {
  const groups = await store.database.rows<{ id: string; key: string }>(sql`
    select g.id, coalesce(g.external_id, g.display_name) as key
      from scim_group_members m join scim_groups g on g.id = m.group_id where m.user_id = ${user} order by g.id`);
  for (const { id } of groups) {
    await store.handle({
      decider: scimGroup,
      load: () => store.load(id, scimGroup),
      command: () => ({ type: 'RemoveScimGroupMember', data: { member: user } }) as const,
      organization: () => null,
      context,
    });
  }
  if (groups.length === 0) return;
  await mapGroupsToTeams({ store, ids }, { user, groups: [], managed: groups.map(({ key }) => key) }, context);
};

import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** The groups of an identity provider that map to teams with one of the `keys` as `sso_team_id`. */
export type ProvidedGroups = {
  readonly keys: readonly string[];
  /** A query with the columns `user_id` and `key`: the groups of users, only those with one of the keys. */
  readonly members: Sql;
  /** Returns a condition: whether the provider manages the user with this id. Other members of teams stay. */
  readonly isManaged: (user: Sql) => Sql;
  /**
   * Returns a condition: another source gives the user the team with this key. The user does not leave it. `ofOwners`:
   * whether it is an owners team.
   */
  readonly isKept: (member: { readonly user: Sql; readonly key: Sql; readonly ofOwners: Sql }) => Sql;
};

/** `groups`: the keys of the user's groups, for `mapGroupsToTeams`. */
export type UserToMapToTeams = { readonly user: string; readonly groups: readonly string[] };

/** Returns the users whose teams do not match their groups. Users that lose a team come first. */
export const listUsersToMap = (
  database: Database,
  { keys, members, isManaged, isKept }: ProvidedGroups,
): Promise<readonly UserToMapToTeams[]> =>
  database.rows<UserToMapToTeams>(sql`
    with wanted as (${members}),
    mapped as (
      select t.id, t.organization, t.sso_team_id as key, o.owners_team = t.id as of_owners
        from teams t join organizations o on o.id = t.organization where t.sso_team_id = any (${keys}::text[])),
    leaving as (
      select tm.user_id from mapped join team_members tm on tm.team = mapped.id
       where ${isManaged(sql.raw('tm.user_id'))}
         and not exists (select 1 from wanted where wanted.user_id = tm.user_id and wanted.key = mapped.key)
         and not ${isKept({
           user: sql.raw('tm.user_id'),
           key: sql.raw('mapped.key'),
           ofOwners: sql.raw('mapped.of_owners'),
         })}),
    joining as (
      select wanted.user_id from mapped join wanted on wanted.key = mapped.key
       where not exists (select 1 from team_members tm where tm.team = mapped.id and tm.user_id = wanted.user_id)
          or exists (select 1 from organization_memberships ou
                      where ou.user_id = wanted.user_id and ou.organization = mapped.organization
                        and ou.status = 'invited'))
    select changed.user_id as "user",
           array(select distinct key from wanted where wanted.user_id = changed.user_id) as groups
      from (select user_id, bool_or(leaves) as leaves
              from (select user_id, true as leaves from leaving union all select user_id, false from joining) either
             group by user_id) changed
     order by not leaves, changed.user_id`);

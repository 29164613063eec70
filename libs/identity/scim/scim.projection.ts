import { sql, type Projection, type Sql, type Timestamp } from '#platform/kernel';
import type { UserEvent } from '#identity/people';
import type { ScimGroupEvent } from './groups/scim-group.js';
import type { ScimUserEvent } from './users/scim-user.js';

/** SCIM shows the address and the suspension of the user, so their changes count too. */
const touch = (_: unknown, { stream, time }: { readonly stream: string; readonly time: Timestamp }): Sql =>
  sql`update scim_users set updated_at = ${time} where id = ${stream}`;

export const scimUsers: Projection<ScimUserEvent | UserEvent> = {
  name: 'scim_users',
  version: 2,
  tables: ['scim_users'],
  on: {
    ScimUserProvisioned: ({ user, userName, externalId, source }, { time }) => sql`
      insert into scim_users as known (id, user_name, external_id, source, created_at, updated_at)
      values (${user}, ${userName}, ${externalId}, ${source}, ${time}, ${time})
      on conflict (id) do update
         set source = excluded.source, user_name = excluded.user_name, external_id = excluded.external_id, deprovisioned = false,
             updated_at = excluded.updated_at`,
    ScimUserUpdated: ({ user, changes: { userName, externalId } }, { time }) => sql`
      update scim_users
         set user_name = coalesce(${userName ?? null}, user_name),
             external_id = case when ${externalId !== undefined} then ${externalId ?? null} else external_id end,
             updated_at = ${time}
       where id = ${user}`,
    ScimUserDeprovisioned: ({ user }, { time }) =>
      sql`update scim_users set deprovisioned = true, updated_at = ${time} where id = ${user}`,
    UserCreated: null,
    UserConfirmed: null,
    SiteAdminGranted: null,
    SiteAdminRevoked: null,
    UserUpdated: touch,
    UserSuspended: touch,
    UserUnsuspended: touch,
    UserForgotten: (_, { stream }) => sql`delete from scim_users where id = ${stream}`,
  },
};

type GroupEvent = ScimGroupEvent | Extract<UserEvent, { type: 'UserForgotten' }>;

export const scimGroups: Projection<GroupEvent> = {
  name: 'scim_groups',
  version: 2,
  tables: ['scim_groups', 'scim_group_members'],
  on: {
    ScimGroupCreated: ({ displayName, externalId, source }, { stream, time }) => sql`
      insert into scim_groups (id, display_name, external_id, source, created_at, updated_at)
      values (${stream}, ${displayName}, ${externalId}, ${source}, ${time}, ${time})`,
    ScimGroupUpdated: ({ changes: { displayName, externalId } }, { stream, time }) => sql`
      update scim_groups
         set display_name = coalesce(${displayName ?? null}, display_name),
             external_id = case when ${externalId !== undefined} then ${externalId ?? null} else external_id end,
             updated_at = ${time}
       where id = ${stream}`,
    ScimGroupMembersChanged: ({ added, removed }, { stream, time }) => [
      sql`delete from scim_group_members where group_id = ${stream} and user_id = any (${removed}::text[])`,
      sql`insert into scim_group_members (group_id, user_id) select ${stream}, unnest(${added}::text[])`,
      sql`update scim_groups set updated_at = ${time} where id = ${stream}`,
    ],
    ScimGroupDeleted: (_, { stream }) => [
      sql`delete from scim_group_members where group_id = ${stream}`,
      sql`delete from scim_groups where id = ${stream}`,
    ],
    UserForgotten: (_, { stream }) => sql`delete from scim_group_members where user_id = ${stream}`,
  },
};

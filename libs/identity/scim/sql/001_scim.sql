-- Users and groups that an identity provider manages by SCIM.
create table views.scim_users (
  id text primary key,
  user_name text not null,
  external_id text,
  deprovisioned boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index scim_users_user_name_key on views.scim_users (lower(user_name));
create index scim_users_by_external_id on views.scim_users (external_id);

create table views.scim_groups (
  id text primary key,
  display_name text not null,
  external_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index scim_groups_display_name_key on views.scim_groups (lower(display_name));
create index scim_groups_by_external_id on views.scim_groups (external_id);
-- `sso_team_id` of the teams to which the group maps.
create index scim_groups_by_key on views.scim_groups (coalesce(external_id, display_name));

create table views.scim_group_members (
  group_id text not null,
  user_id text not null,
  primary key (group_id, user_id)
);
create index scim_group_members_by_user on views.scim_group_members (user_id);

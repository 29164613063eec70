create table views.workspaces (
  id text primary key,
  organization text not null,
  project text not null,
  name text not null collate "C",
  settings jsonb not null,
  -- { holder: { type, id, name }, reason, at }, null while unlocked
  lock jsonb,
  current_state_version text,
  resource_count integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  latest_change_at timestamptz not null,
  constraint workspaces_organization_name_key unique (organization, name)
) with (fillfactor = 70);
create index workspaces_by_project on views.workspaces (project);

create table views.workspace_tags (
  workspace text not null,
  organization text not null,
  key text not null,
  value text,
  -- Order of insertion: the version of the event that added it, and its place in there.
  added_in bigint not null,
  ordinal integer not null,
  created_at timestamptz not null,
  primary key (workspace, key)
);
create index workspace_tags_by_key on views.workspace_tags (organization, key);

create table views.workspace_counts (
  organization text not null,
  project text not null,
  shard integer not null,
  workspaces bigint not null,
  primary key (organization, project, shard)
) with (fillfactor = 50);

-- What projects bind, and their workspaces inherit.
create table views.project_tags (
  project text not null,
  organization text not null,
  key text not null,
  value text not null,
  -- Order of insertion: the version of the event that added it
  added_in bigint not null,
  created_at timestamptz not null,
  -- When its value was set, and by whom: { type, id, name }
  set_at timestamptz not null,
  set_by jsonb not null,
  primary key (project, key)
);
create index project_tags_by_key on views.project_tags (organization, key, value);

create table views.reserved_tag_keys (
  id text primary key,
  organization text not null,
  key text not null,
  disable_overrides boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint reserved_tag_keys_organization_key_key unique (organization, key)
);

-- As for the tags of workspaces: plans are made for the largest organization (libs/workspaces/sql/004_lists.sql).
alter table views.project_tags alter column organization set (n_distinct = 1);

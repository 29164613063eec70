create table views.variable_sets (
  id text primary key,
  organization text not null,
  -- The project that owns it, null where the organization does.
  project text,
  name text not null,
  description text,
  global boolean not null,
  priority boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint variable_sets_organization_name_key unique (organization, name)
);
create index variable_sets_by_project on views.variable_sets (project);

-- The workspaces and projects that sets are applied to.
create table views.variable_set_targets (
  variable_set text not null,
  kind text not null,
  target text not null,
  organization text not null,
  primary key (variable_set, target)
);
create index variable_set_targets_by_target on views.variable_set_targets (target);
create index variable_set_targets_by_organization on views.variable_set_targets (organization);

create table views.variables (
  id text primary key,
  organization text not null,
  -- A workspace or a variable set.
  owner text not null,
  -- Whether it is of a set that counts in all workspaces of the organization: two of those must not contradict.
  global boolean not null,
  key text not null,
  category text not null,
  -- Null where it is sensitive: that value lies in the vault under the variable's id, and nowhere else.
  value text,
  description text,
  hcl boolean not null,
  sensitive boolean not null,
  version bigint not null,
  created_at timestamptz not null,
  constraint variables_owner_key unique (owner, key, category)
);
create unique index variables_global_key on views.variables (organization, key, category) where global;
create index variables_by_organization on views.variables (organization);

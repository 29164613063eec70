create table views.run_tasks (
  id text primary key,
  organization text not null,
  name text not null,
  url text not null,
  description text not null,
  enabled boolean not null,
  -- Whether it belongs to every workspace, with these stages and this level.
  global_enabled boolean not null,
  global_stages text[] not null,
  global_enforcement_level text not null,
  -- The vault has the key.
  has_hmac_key boolean not null,
  created_at timestamptz not null,
  constraint run_tasks_organization_name_key unique (organization, name)
);

create table views.workspace_tasks (
  id text primary key,
  organization text not null,
  workspace text not null,
  task text not null,
  enforcement_level text not null,
  stages text[] not null,
  created_at timestamptz not null,
  constraint workspace_tasks_workspace_task_key unique (workspace, task)
);
create index workspace_tasks_by_task on views.workspace_tasks (task);
create index workspace_tasks_by_organization on views.workspace_tasks (organization);
